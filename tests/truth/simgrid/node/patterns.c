/* Programs that consist of one communication pattern. */
#include "programs.h"

#include <stdlib.h>
#include <string.h>

void run_shift(Node *me)
{
    long bytes = integer_of(me, "bytes"), repeat = integer_of(me, "repeat");
    int by = (int)integer_of(me, "by"), procs = me->procs;
    bool periodic = chosen(me, "periodic", "yes", "no");
    bool concurrent = chosen(me, "exchange", "concurrent", "sequential");
    double work_s = real_of(me, "work_s");
    int to = me->rank + by, from = me->rank - by;
    if (periodic) {
        to = ((to % procs) + procs) % procs;
        from = ((from % procs) + procs) % procs;
    }
    bool sends = to >= 0 && to < procs && to != me->rank;
    bool receives = from >= 0 && from < procs && from != me->rank;
    for (long it = 1; it <= repeat; it++) {
        disturb(me, it);
        if (sends && concurrent)
            isend(me, to, bytes);
        else if (sends)
            csend(me, to, bytes);
        if (receives)
            crecv(me, from, bytes);
        charge(me, work_s);
    }
}

void run_bcast(Node *me)
{
    long bytes = integer_of(me, "bytes"), repeat = integer_of(me, "repeat");
    int root = (int)integer_of(me, "root");
    bool by_xor = chosen(me, "tree", "xor", "shift");
    double work_s = real_of(me, "work_s");
    if (root < 0 || root >= me->procs)
        fail("root %d is none of %d ranks", root, me->procs);
    for (long it = 1; it <= repeat; it++) {
        disturb(me, it);
        bcast(me, root, bytes, by_xor);
        charge(me, work_s);
    }
}

void run_allreduce(Node *me)
{
    long bytes = integer_of(me, "bytes"), repeat = integer_of(me, "repeat");
    double work_s = real_of(me, "work_s"), combine_s = real_of(me, "combine_s");
    for (long it = 1; it <= repeat; it++) {
        disturb(me, it);
        allreduce(me, bytes, combine_s);
        charge(me, work_s);
    }
}

/* One collective after the other in each line of a grid, as cube.c has them. */
void run_cube(Node *me)
{
    long bytes = integer_of(me, "bytes"), repeat = integer_of(me, "repeat");
    int root = (int)integer_of(me, "root");
    const char *what = text_of(me, "what");
    double combine_s = real_of(me, "combine_s");
    Group group = line_of(me);
    if (root < 0 || root >= group.count)
        fail("root %d is none of %d ranks", root, group.count);
    for (long it = 1; it <= repeat; it++) {
        disturb(me, it);
        if (strcmp(what, "allreduce") == 0)
            cube_allreduce(me, group, bytes, combine_s);
        else if (strcmp(what, "bcast") == 0)
            cube_bcast(me, group, group.ranks[root], bytes);
        else if (strcmp(what, "concatenate") == 0)
            cube_concatenate(me, group, bytes);
        else
            fail("there is no collective %s", what);
    }
    free((void *)group.ranks);
}

/* The rank whose node comes so many places after the first one, in the order of nodes. */
static int rank_in_order(const Node *me, int place)
{
    for (int rank = 0; rank < me->procs; rank++) {
        int before = 0;
        for (int other = 0; other < me->procs; other++)
            before += me->node_of[other] < me->node_of[rank];
        if (before == place)
            return rank;
    }
    fail("there is no place %d", place);
}

static int place_of(const Node *me)
{
    int before = 0;
    for (int other = 0; other < me->procs; other++)
        before += me->node_of[other] < me->node_of[me->rank];
    return before;
}

static int partner_to(const Node *me, int step, bool by_xor)
{
    if (me->by_node)
        return rank_in_order(me, by_xor ? place_of(me) ^ step : (place_of(me) + step) % me->procs);
    return by_xor ? me->rank ^ step : (me->rank + step) % me->procs;
}

static int partner_from(const Node *me, int step, bool by_xor)
{
    if (me->by_node)
        return rank_in_order(me, by_xor ? place_of(me) ^ step : (place_of(me) - step + me->procs) % me->procs);
    return by_xor ? me->rank ^ step : (me->rank - step + me->procs) % me->procs;
}

void run_transpose(Node *me)
{
    long bytes = integer_of(me, "bytes"), repeat = integer_of(me, "repeat");
    bool by_xor = chosen(me, "order", "xor", "ring");
    bool concurrent = chosen(me, "exchange", "concurrent", "sequential");
    double work_s = real_of(me, "work_s");
    if (by_xor && (me->procs & (me->procs - 1)) != 0)
        fail("order=xor needs a power of two, not %d processors", me->procs);
    for (long it = 1; it <= repeat; it++) {
        disturb(me, it);
        for (int step = 1; step < me->procs; step++) {
            if (concurrent)
                isend(me, partner_to(me, step, by_xor), bytes);
            else
                csend(me, partner_to(me, step, by_xor), bytes);
            if (!concurrent)
                crecv(me, partner_from(me, step, by_xor), bytes);
        }
        for (int step = 1; concurrent && step < me->procs; step++)
            crecv(me, partner_from(me, step, by_xor), bytes);
        charge(me, work_s);
    }
}

void run_pipeline(Node *me)
{
    long n = integer_of(me, "n"), repeat = integer_of(me, "repeat"), bytes = integer_of(me, "bytes");
    double point_s = real_of(me, "point_s");
    long mine = length_of(block_of(n, me->procs, me->rank));
    if (mine == 0)
        return;
    bool last = me->rank + 1 == me->procs || length_of(block_of(n, me->procs, me->rank + 1)) == 0;
    for (long it = 1; it <= repeat; it++) {
        disturb(me, it);
        if (me->rank > 0)
            crecv(me, me->rank - 1, bytes);
        charge(me, (double)mine * point_s);
        if (!last)
            csend(me, me->rank + 1, bytes);
    }
}
