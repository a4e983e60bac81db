/* One executable for all node programs: node PROGRAM key=value ... */
#include "programs.h"

#include <mpi.h>
#include <string.h>

static const struct {
    const char *name;
    void (*run)(Node *me);
} programs[] = {
    {"shift", run_shift},         {"bcast", run_bcast},       {"allreduce", run_allreduce}, {"laplace", run_laplace},
    {"gauss", run_gauss},         {"transpose", run_transpose}, {"pipeline", run_pipeline}, {"script", run_script},
    {"cube", run_cube},
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    Node me;
    start_node(&me, argc, argv);
    const char *wanted = text_of(&me, "program");
    size_t i = 0, count = sizeof programs / sizeof programs[0];
    while (i < count && strcmp(programs[i].name, wanted) != 0)
        i++;
    if (i == count)
        fail("there is no node program %s", wanted);
    programs[i].run(&me);
    finish_node(&me);
    MPI_Finalize();
    return 0;
}
