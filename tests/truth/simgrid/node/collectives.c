/* Collectives from point-to-point messages, in the order of ranks; or, where me->by_node says so, those of cube.c. */
#include "layer.h"

#include <stdlib.h>

static Group chosen_ranks(const Node *me, int first, int step, int count)
{
    int *ranks = malloc((size_t)me->procs * sizeof *ranks);
    if (ranks == NULL)
        fail("out of memory");
    for (int i = 0; i < count; i++)
        ranks[i] = first + i * step;
    return (Group){count, ranks};
}

Group everybody(const Node *me)
{
    return chosen_ranks(me, 0, 1, me->procs);
}

Group line_of(const Node *me)
{
    long along = integer_of(me, "along"), p1 = integer_of(me, "p1"), p2 = integer_of(me, "p2");
    if (along == 0)
        return everybody(me);
    if (along < 0 || along > 2 || p1 * p2 != me->procs)
        fail("there is no dimension %ld of a grid %ld x %ld of %d ranks", along, p1, p2, me->procs);
    if (along == 1)
        return chosen_ranks(me, me->rank / (int)p1 * (int)p1, 1, (int)p1);
    return chosen_ranks(me, me->rank % (int)p1, (int)p1, (int)p2);
}

static int largest_power(int procs)
{
    int power = 1;
    while (2 * power <= procs)
        power *= 2;
    return power;
}

/* Recursive doubling, lowest bit of the rank first. Of the last procs - 2^k ranks each hands its operand to
 * rank - 2^k before and gets the result from there afterwards. */
void allreduce(Node *me, long bytes, double work_s)
{
    if (me->by_node) {
        Group group = everybody(me);
        cube_allreduce(me, group, bytes, work_s);
        free((void *)group.ranks);
        return;
    }
    int power = largest_power(me->procs);
    if (me->rank >= power) {
        csend(me, me->rank - power, bytes);
        crecv(me, me->rank - power, bytes);
        return;
    }
    bool helps = me->rank + power < me->procs;
    if (helps) {
        crecv(me, me->rank + power, bytes);
        charge(me, work_s);
    }
    for (int bit = 1; bit < power; bit *= 2) {
        csend(me, me->rank ^ bit, bytes);
        crecv(me, me->rank ^ bit, bytes);
        charge(me, work_s);
    }
    if (helps)
        csend(me, me->rank + power, bytes);
}

/* Binomial tree on the relative rank v, which is (rank - root) mod procs, or rank xor root where the number of
 * processors is a power of two and `by_xor` asks for it. v receives from v minus its lowest bit, and then sends to
 * v + bit for every smaller bit, the largest first (the root starts with the largest power below procs). */
void bcast(Node *me, int root, long bytes, bool by_xor)
{
    if (me->by_node) {
        Group group = everybody(me);
        cube_bcast(me, group, root, bytes);
        free((void *)group.ranks);
        return;
    }
    int procs = me->procs;
    if (by_xor && largest_power(procs) != procs)
        fail("a tree by xor needs a power of two, not %d processors", procs);
    int v = by_xor ? me->rank ^ root : (me->rank - root + procs) % procs;
    int bit = 1;
    while (bit < procs && (v & bit) == 0)
        bit *= 2;
    if (v != 0) {
        int parent = v - bit;
        crecv(me, by_xor ? parent ^ root : (parent + root) % procs, bytes);
    }
    for (bit /= 2; bit > 0; bit /= 2) {
        int child = v + bit;
        if (child < procs)
            csend(me, by_xor ? child ^ root : (child + root) % procs, bytes);
    }
}
