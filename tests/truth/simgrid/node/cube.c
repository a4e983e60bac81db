/* Collectives as a hypercube's own library has them: partners are nodes that differ in one bit, whatever ranks they have.
 *
 * A group of processors that is no subcube uses the largest one among its nodes; each other member has a substitute
 * there, whose node agrees with its own in the directions of the subcube. Written from Def 8, with nothing of esp. */
#include "layer.h"

#include <stdlib.h>

typedef struct {
    int free, base; /* directions of the subcube, and the bits of its nodes in the other directions */
} Subcube;

static int rank_at(const Node *me, Group group, int node)
{
    for (int i = 0; i < group.count; i++)
        if (me->node_of[group.ranks[i]] == node)
            return group.ranks[i];
    return -1;
}

static int directions(int mask)
{
    int count = 0;
    for (; mask; mask &= mask - 1)
        count++;
    return count;
}

static bool complete(const Node *me, Group group, int free, int base)
{
    for (int part = free;; part = (part - 1) & free) {
        if (rank_at(me, group, base | part) < 0)
            return false;
        if (part == 0)
            return true;
    }
}

/* Tries all of them, the largest first; of equal ones the one with the lowest directions and nodes. */
static Subcube largest(const Node *me, Group group)
{
    int all = 0;
    for (int i = 0; i < group.count; i++)
        all |= me->node_of[group.ranks[i]];
    int dimension = 0;
    while (all >> dimension)
        dimension++;
    for (int size = dimension; size > 0; size--)
        for (int free = 0; (1 << size) <= group.count && free < 1 << dimension; free++)
            if (directions(free) == size) {
                int lowest = -1;
                for (int i = 0; i < group.count; i++) {
                    int base = me->node_of[group.ranks[i]] & ~free;
                    if ((lowest < 0 || base < lowest) && complete(me, group, free, base))
                        lowest = base;
                }
                if (lowest >= 0)
                    return (Subcube){free, lowest};
            }
    return (Subcube){0, me->node_of[group.ranks[0]]};
}

static int substitute(const Node *me, Group group, Subcube cube, int rank)
{
    return rank_at(me, group, (me->node_of[rank] & cube.free) | cube.base);
}

static int by_node(const void *a, const void *b)
{
    return ((const int *)a)[0] - ((const int *)b)[0];
}

/* Those outside the subcube whose substitute I am, in the order of their nodes. */
static int clients(const Node *me, Group group, Subcube cube, int *ranks)
{
    int (*found)[2] = malloc((size_t)group.count * sizeof *found), count = 0;
    for (int i = 0; i < group.count; i++) {
        int rank = group.ranks[i];
        if (rank != me->rank && substitute(me, group, cube, rank) == me->rank) {
            found[count][0] = me->node_of[rank];
            found[count++][1] = rank;
        }
    }
    qsort(found, (size_t)count, sizeof *found, by_node);
    for (int i = 0; i < count; i++)
        ranks[i] = found[i][1];
    free(found);
    return count;
}

void cube_allreduce(Node *me, Group group, long bytes, double work_s)
{
    Subcube cube = largest(me, group);
    int own = me->node_of[me->rank], first = substitute(me, group, cube, me->rank);
    if (first != me->rank) {
        csend(me, first, bytes);
        crecv(me, first, bytes);
        return;
    }
    int *others = malloc((size_t)group.count * sizeof *others), count = clients(me, group, cube, others);
    for (int i = 0; i < count; i++) {
        crecv(me, others[i], bytes);
        charge(me, work_s);
    }
    for (int bit = 1; bit <= cube.free; bit *= 2)
        if (cube.free & bit) {
            int partner = rank_at(me, group, own ^ bit);
            csend(me, partner, bytes);
            crecv(me, partner, bytes);
            charge(me, work_s);
        }
    for (int i = 0; i < count; i++)
        csend(me, others[i], bytes);
    free(others);
}

void cube_bcast(Node *me, Group group, int root, long bytes)
{
    Subcube cube = largest(me, group);
    int own = me->node_of[me->rank], start = substitute(me, group, cube, root);
    int first = substitute(me, group, cube, me->rank);
    if (me->rank == root && start != root)
        csend(me, start, bytes);
    if (first != me->rank) {
        if (me->rank != root)
            crecv(me, first, bytes);
        return;
    }
    if (me->rank == start && start != root)
        crecv(me, root, bytes);
    int relative = own ^ me->node_of[start], lowest = relative & -relative;
    if (relative)
        crecv(me, rank_at(me, group, own ^ lowest), bytes);
    for (int bit = 1 << 30; bit > 0; bit /= 2)
        if ((cube.free & bit) && (relative == 0 || bit < lowest))
            csend(me, rank_at(me, group, own ^ bit), bytes);
    int *others = malloc((size_t)group.count * sizeof *others), count = clients(me, group, cube, others);
    for (int i = 0; i < count; i++)
        if (others[i] != root)
            csend(me, others[i], bytes);
    free(others);
}

/* Everybody gets what all have, `bytes` each. Whoever sends, sends all that it has. */
void cube_concatenate(Node *me, Group group, long bytes)
{
    Subcube cube = largest(me, group);
    int own = me->node_of[me->rank], first = substitute(me, group, cube, me->rank);
    if (first != me->rank) {
        csend(me, first, bytes);
        crecv(me, first, bytes * group.count);
        return;
    }
    int *others = malloc((size_t)group.count * sizeof *others), count = clients(me, group, cube, others);
    for (int i = 0; i < count; i++)
        crecv(me, others[i], bytes);
    int done = 0;
    for (int bit = 1; bit <= cube.free; bit *= 2)
        if (cube.free & bit) {
            long mine = 0, theirs = 0; /* of those whose substitutes agree with one of us but in directions of before */
            for (int i = 0; i < group.count; i++) {
                int node = me->node_of[substitute(me, group, cube, group.ranks[i])];
                mine += (node & ~done) == (own & ~done) ? bytes : 0;
                theirs += (node & ~done) == ((own ^ bit) & ~done) ? bytes : 0;
            }
            int partner = rank_at(me, group, own ^ bit);
            csend(me, partner, mine);
            crecv(me, partner, theirs);
            done |= bit;
        }
    for (int i = 0; i < count; i++)
        csend(me, others[i], bytes * group.count);
    free(others);
}
