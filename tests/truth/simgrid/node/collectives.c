/* Collectives from point-to-point messages, as Def 8 has them. */
#include "layer.h"

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
