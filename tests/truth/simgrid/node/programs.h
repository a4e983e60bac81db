/* The node programs; what each does and takes is documented in ../programs.py. */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#include "layer.h"

void run_shift(Node *me);
void run_bcast(Node *me);
void run_allreduce(Node *me);
void run_cube(Node *me);
void run_laplace(Node *me);
void run_gauss(Node *me);
void run_transpose(Node *me);
void run_pipeline(Node *me);
void run_script(Node *me);

/* Index range [low, high] (from 0, empty if high < low) of block `coordinate` of n elements in blocks of
 * ceil(n / procs). */
typedef struct {
    long low, high;
} Range;

Range block_of(long n, int procs, int coordinate);
long length_of(Range range);

#endif
