/* The thin message layer of the hand-written node programs.
 *
 * Every rank owns one Node; nothing that differs between ranks may be a global, because the programs are run with
 * privatization off: all ranks live in one address space and are resumed one after the other (never in parallel).
 * The book-keeping of the instrument itself uses exactly that: it is shared memory and costs no simulated time.
 */
#ifndef LAYER_H
#define LAYER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    double startup_s, byte_s, hop_s;
} Protocol;

typedef struct {
    Protocol brief, extended; /* bytes <= threshold, bytes > threshold */
    long threshold;
} Law;

typedef struct {
    int rank, procs;
    int argc;
    char **argv;
    const int *node_of; /* rank -> node number of the hypercube */
    Law law;
    bool by_node; /* collectives are those of cube.c */
    bool eager;   /* a send occupies its sender for the start-up only */
    bool traced;  /* keep a record of every message */
    double stagger_s; /* each send is late by this times the rank; with a seed, by up to this times procs */
    long seed;        /* negative: none */
    int slow_rank;
    double slow_s;
    bool slow_always;
    char *buffer; /* grows; contents are never looked at */
    size_t capacity;
} Node;

/* Parameters are words key=value on the command line; a missing or malformed one ends the simulation. */
const char *text_of(const Node *me, const char *key);
long integer_of(const Node *me, const char *key);
double real_of(const Node *me, const char *key);
bool chosen(const Node *me, const char *key, const char *yes, const char *no);
void fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

void start_node(Node *me, int argc, char **argv);
void finish_node(Node *me);

void charge(Node *me, double seconds);   /* computation */
void disturb(Node *me, long iteration);  /* the one slow rank, iteration counted from 1 */

int hops(const Node *me, int partner);
void csend(Node *me, int to, long bytes); /* returns when the bytes would have left an idle network */
void isend(Node *me, int to, long bytes); /* returns after the start-up */
void crecv(Node *me, int from, long bytes);

/* Some of the ranks. */
typedef struct {
    int count;
    const int *ranks;
} Group;

/* Def 8. `work_s` is charged after each received operand. */
void allreduce(Node *me, long bytes, double work_s);
void bcast(Node *me, int root, long bytes, bool by_xor);

/* The same as a hypercube's own library has it. */
void cube_allreduce(Node *me, Group group, long bytes, double work_s);
void cube_bcast(Node *me, Group group, int root, long bytes);
void cube_concatenate(Node *me, Group group, long bytes);

/* All ranks; or those that share my place in a grid p1 x p2 but along its dimension `along`, if that is 1 or 2. The
 * ranks are to be freed. */
Group everybody(const Node *me);
Group line_of(const Node *me);

#endif
