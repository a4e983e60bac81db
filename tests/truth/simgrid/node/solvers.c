/* Laplace's equation and Gaussian elimination: their messages and charges, without the arithmetic. */
#include "programs.h"

enum { REAL = 8 };

Range block_of(long n, int procs, int coordinate)
{
    long size = (n + procs - 1) / procs;
    Range r = {size * coordinate, size * (coordinate + 1) - 1};
    if (r.high > n - 1)
        r.high = n - 1;
    return r;
}

long length_of(Range range)
{
    return range.high < range.low ? 0 : range.high - range.low + 1;
}

/* The part of a block that a stencil over 2..n-1 computes. */
static Range interior_of(long n, int procs, int coordinate)
{
    Range r = block_of(n, procs, coordinate);
    if (r.low < 1)
        r.low = 1;
    if (r.high > n - 2)
        r.high = n - 2;
    return r;
}

/* One neighbour exchange: what this rank sends to `to` and receives from `from` (rank, or -1 for nobody). */
typedef struct {
    int to, from;
    long bytes;
} Move;

/* Does block c need the element beside its lower (step +1: data come from c - 1) or upper end? Only where it
 * computes the element at that end, and only where that neighbour exists. */
static bool needs(long n, int procs, int c, int step)
{
    if (c < 0 || c >= procs || c - step < 0 || c - step >= procs)
        return false;
    Range own = block_of(n, procs, c), computed = interior_of(n, procs, c);
    if (length_of(computed) == 0)
        return false;
    return step > 0 ? computed.low == own.low : computed.high == own.high;
}

/* The moves + and - of grid dimension 1, then of 2. The width of a message is what its receiver computes in the
 * other dimension, which is what its sender computes there: both have the same coordinate in it. */
static void plan(const Node *me, long n, int p1, int p2, Move moves[4])
{
    int extent[2] = {p1, p2}, stride[2] = {1, p1}, at[2] = {me->rank % p1, me->rank / p1};
    for (int i = 0; i < 4; i++) {
        int dim = i / 2, step = i % 2 == 0 ? 1 : -1, other = 1 - dim;
        long width = length_of(interior_of(n, extent[other], at[other]));
        Move *m = &moves[i];
        m->bytes = REAL * width;
        m->to = width > 0 && needs(n, extent[dim], at[dim] + step, step) ? me->rank + step * stride[dim] : -1;
        m->from = width > 0 && needs(n, extent[dim], at[dim], step) ? me->rank - step * stride[dim] : -1;
    }
}

static void exchange(Node *me, const Move moves[4], bool concurrent)
{
    for (int i = 0; i < 4; i++) {
        if (moves[i].to >= 0 && concurrent)
            isend(me, moves[i].to, moves[i].bytes);
        else if (moves[i].to >= 0)
            csend(me, moves[i].to, moves[i].bytes);
        if (moves[i].from >= 0 && !concurrent)
            crecv(me, moves[i].from, moves[i].bytes);
    }
    for (int i = 0; concurrent && i < 4; i++)
        if (moves[i].from >= 0)
            crecv(me, moves[i].from, moves[i].bytes);
}

void run_laplace(Node *me)
{
    long n = integer_of(me, "n"), repeat = integer_of(me, "repeat");
    int p1 = (int)integer_of(me, "p1"), p2 = (int)integer_of(me, "p2");
    bool concurrent = chosen(me, "exchange", "concurrent", "sequential");
    bool reduced = chosen(me, "reduce", "yes", "no");
    double point_s = real_of(me, "point_s");
    if (p1 < 1 || p2 < 1 || p1 * p2 != me->procs)
        fail("%d x %d is no grid of %d processors", p1, p2, me->procs);
    long points = length_of(interior_of(n, p1, me->rank % p1)) * length_of(interior_of(n, p2, me->rank / p1));
    Move moves[4];
    plan(me, n, p1, p2, moves);
    for (long it = 1; it <= repeat; it++) {
        disturb(me, it);
        exchange(me, moves, concurrent);
        charge(me, (double)points * point_s);
        if (reduced)
            allreduce(me, REAL, 0.0);
    }
}

/* Columns after k (from 1) that rank owns of n columns. */
static long columns_after(long n, int procs, int rank, long k, bool cyclic)
{
    if (cyclic) {
        long upto_n = n > rank ? (n - rank - 1) / procs + 1 : 0;
        long upto_k = k > rank ? (k - rank - 1) / procs + 1 : 0;
        return upto_n - upto_k;
    }
    Range r = block_of(n, procs, rank);
    if (r.low < k)
        r.low = k;
    return length_of(r);
}

void run_gauss(Node *me)
{
    long n = integer_of(me, "n");
    bool cyclic = chosen(me, "columns", "cyclic", "block"), by_xor = chosen(me, "tree", "xor", "shift");
    double divide_s = real_of(me, "divide_s"), update_s = real_of(me, "update_s");
    long size = (n + me->procs - 1) / me->procs;
    for (long k = 1; k < n; k++) {
        int owner = (int)(cyclic ? (k - 1) % me->procs : (k - 1) / size);
        double rows = (double)(n - k);
        disturb(me, k);
        if (me->rank == owner)
            charge(me, rows * divide_s);
        bcast(me, owner, REAL * (n - k), by_xor);
        charge(me, rows * (double)columns_after(n, me->procs, me->rank, k, cyclic) * update_s);
    }
}
