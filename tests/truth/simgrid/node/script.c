/* A program given as a file of lines "rank operation first second"; rank -1 stands for every rank.
 *     charge 0 SECONDS   send TO BYTES   isend TO BYTES   recv FROM BYTES   bcast ROOT BYTES   allreduce 0 BYTES */
#include "programs.h"

#include <stdio.h>
#include <string.h>

static void step(Node *me, const char *operation, int partner, double amount)
{
    if (strcmp(operation, "charge") == 0)
        charge(me, amount);
    else if (strcmp(operation, "send") == 0)
        csend(me, partner, (long)amount);
    else if (strcmp(operation, "isend") == 0)
        isend(me, partner, (long)amount);
    else if (strcmp(operation, "recv") == 0)
        crecv(me, partner, (long)amount);
    else if (strcmp(operation, "bcast") == 0)
        bcast(me, partner, (long)amount, false);
    else if (strcmp(operation, "allreduce") == 0)
        allreduce(me, (long)amount, 0.0);
    else
        fail("the script asks for an unknown operation %s", operation);
}

void run_script(Node *me)
{
    const char *path = text_of(me, "steps");
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail("cannot read the script %s", path);
    int rank, partner, fields;
    double amount;
    char operation[16];
    while ((fields = fscanf(file, "%d %15s %d %lf", &rank, operation, &partner, &amount)) == 4)
        if (rank == me->rank || rank == -1)
            step(me, operation, partner, amount);
    if (fields != EOF)
        fail("a line of the script %s is not readable", path);
    fclose(file);
}
