/* csend, isend, crecv, the clock and the books. See layer.h and ../README.md. */
#include "layer.h"

#include <ctype.h>
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENVELOPE = 16 }; /* bytes SMPI adds to every message on the wire */

/* Long enough that no rank leaves (and finalizes) while another still uses the links. */
static const double SETTLE_S = 1e4;

typedef struct {
    double end_s, compute_s, send_s, partner_s, link_s, transmission_s;
    long messages, bytes;
} Books;

typedef struct {
    double called_s;
    long bytes;
} Sent;

typedef struct {
    Sent *sent;
    int head, tail, capacity;
} Queue; /* the sends from one rank that another has still to receive: when they were called, and their size */

typedef struct {
    int from, to;
    long bytes;
    double sent_s, called_s, returned_s;
} Record;

static struct {
    Books *books;
    Queue *queues;
    int *node_of;
    int finished;
    Record *records;
    size_t recorded, capacity;
} shared;

void fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("node program: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(3);
}

static void *grown(void *memory, size_t bytes)
{
    void *result = realloc(memory, bytes ? bytes : 1);
    if (result == NULL)
        fail("out of memory (%zu bytes)", bytes);
    return result;
}

static void *zeroed(size_t count, size_t bytes)
{
    void *result = calloc(count, bytes);
    if (result == NULL)
        fail("out of memory (%zu x %zu bytes)", count, bytes);
    return result;
}

const char *text_of(const Node *me, const char *key)
{
    size_t length = strlen(key);
    for (int i = 1; i < me->argc; i++)
        if (strncmp(me->argv[i], key, length) == 0 && me->argv[i][length] == '=')
            return me->argv[i] + length + 1;
    fail("parameter %s is missing", key);
}

long integer_of(const Node *me, const char *key)
{
    char *end;
    const char *text = text_of(me, key);
    long value = strtol(text, &end, 10);
    if (end == text || *end != '\0')
        fail("%s=%s is no integer", key, text);
    return value;
}

double real_of(const Node *me, const char *key)
{
    char *end;
    const char *text = text_of(me, key);
    double value = strtod(text, &end);
    if (end == text || *end != '\0')
        fail("%s=%s is no number", key, text);
    return value;
}

bool chosen(const Node *me, const char *key, const char *yes, const char *no)
{
    const char *text = text_of(me, key);
    if (strcmp(text, yes) != 0 && strcmp(text, no) != 0)
        fail("%s=%s is neither %s nor %s", key, text, yes, no);
    return strcmp(text, yes) == 0;
}

static Protocol protocol_of(const Node *me, const char *name)
{
    char key[64];
    Protocol result;
    snprintf(key, sizeof key, "%s_startup_s", name);
    result.startup_s = real_of(me, key);
    snprintf(key, sizeof key, "%s_byte_s", name);
    result.byte_s = real_of(me, key);
    snprintf(key, sizeof key, "%s_hop_s", name);
    result.hop_s = real_of(me, key);
    return result;
}

static int *parse_nodes(const Node *me)
{
    int *nodes = zeroed((size_t)me->procs, sizeof *nodes);
    const char *text = text_of(me, "nodes");
    for (int i = 0; i < me->procs; i++) {
        char *end;
        nodes[i] = (int)strtol(text, &end, 10);
        if (end == text || *end != (i + 1 < me->procs ? ',' : '\0'))
            fail("nodes= does not list %d nodes", me->procs);
        text = end + 1;
    }
    return nodes;
}

static void check_place(const Node *me)
{
    char name[MPI_MAX_PROCESSOR_NAME];
    int length;
    MPI_Get_processor_name(name, &length);
    const char *digits = name;
    while (*digits != '\0' && !isdigit((unsigned char)*digits))
        digits++;
    if (atoi(digits) != me->node_of[me->rank])
        fail("rank %d runs on %s and not on node %d", me->rank, name, me->node_of[me->rank]);
    if (MPI_Wtime() != 0.0)
        fail("rank %d starts at %g s and not at 0", me->rank, MPI_Wtime());
}

void start_node(Node *me, int argc, char **argv)
{
    memset(me, 0, sizeof *me);
    me->argc = argc;
    me->argv = argv;
    MPI_Comm_rank(MPI_COMM_WORLD, &me->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &me->procs);
    if (shared.books == NULL) { /* the first rank to come */
        size_t procs = (size_t)me->procs;
        shared.books = zeroed(procs, sizeof *shared.books);
        shared.queues = zeroed(procs * procs, sizeof *shared.queues);
        shared.node_of = parse_nodes(me);
    }
    me->node_of = shared.node_of;
    me->law.brief = protocol_of(me, "short");
    me->law.extended = protocol_of(me, "long");
    me->law.threshold = integer_of(me, "threshold");
    me->eager = chosen(me, "send", "startup", "blocking");
    me->by_node = chosen(me, "library", "node", "rank");
    me->stagger_s = real_of(me, "stagger_s");
    me->seed = integer_of(me, "seed");
    me->traced = chosen(me, "trace", "yes", "no");
    me->slow_rank = (int)integer_of(me, "slow_rank");
    me->slow_s = real_of(me, "slow_s");
    me->slow_always = chosen(me, "slow_when", "all", "first");
    check_place(me);
}

static Books *books_of(const Node *me)
{
    return &shared.books[me->rank];
}

static void print_column(int procs, const char *name, size_t offset)
{
    printf("\"%s\": [", name);
    for (int i = 0; i < procs; i++)
        printf("%s%.17g", i ? ", " : "", *(const double *)((const char *)&shared.books[i] + offset));
    printf("], ");
}

static void print_counts(int procs, const char *name, size_t offset, const char *after)
{
    printf("\"%s\": [", name);
    for (int i = 0; i < procs; i++)
        printf("%s%ld", i ? ", " : "", *(const long *)((const char *)&shared.books[i] + offset));
    printf("]%s", after);
}

static void print_records(void)
{
    printf(", \"trace\": [");
    for (size_t i = 0; i < shared.recorded; i++) {
        const Record *r = &shared.records[i];
        printf("%s[%d, %d, %ld, %.17g, %.17g, %.17g]", i ? ", " : "", r->from, r->to, r->bytes, r->sent_s,
               r->called_s, r->returned_s);
    }
    printf("]");
}

static void print_books(const Node *me)
{
    for (long i = 0; i < (long)me->procs * me->procs; i++)
        if (shared.queues[i].head != shared.queues[i].tail)
            fail("rank %ld never received a message of rank %ld", i % me->procs, i / me->procs);
    printf("{");
    print_column(me->procs, "end_s", offsetof(Books, end_s));
    print_column(me->procs, "compute_s", offsetof(Books, compute_s));
    print_column(me->procs, "send_s", offsetof(Books, send_s));
    print_column(me->procs, "partner_s", offsetof(Books, partner_s));
    print_column(me->procs, "link_s", offsetof(Books, link_s));
    print_column(me->procs, "transmission_s", offsetof(Books, transmission_s));
    print_counts(me->procs, "messages", offsetof(Books, messages), ", ");
    print_counts(me->procs, "bytes", offsetof(Books, bytes), "");
    if (me->traced)
        print_records();
    printf("}\n");
    fflush(stdout);
}

void finish_node(Node *me)
{
    books_of(me)->end_s = MPI_Wtime();
    free(me->buffer);
    smpi_execute(SETTLE_S);
    if (++shared.finished == me->procs)
        print_books(me);
}

void charge(Node *me, double seconds)
{
    if (seconds < 0.0)
        fail("rank %d was to compute for %g s", me->rank, seconds);
    if (seconds > 0.0)
        smpi_execute(seconds);
    books_of(me)->compute_s += seconds;
}

void disturb(Node *me, long iteration)
{
    if (me->rank == me->slow_rank && (me->slow_always || iteration == 1))
        charge(me, me->slow_s);
}

int hops(const Node *me, int partner)
{
    return __builtin_popcount((unsigned)(me->node_of[me->rank] ^ me->node_of[partner]));
}

static const Protocol *protocol_for(const Node *me, long bytes)
{
    return bytes > me->law.threshold ? &me->law.extended : &me->law.brief;
}

static double uncontended_s(const Node *me, int partner, long bytes)
{
    const Protocol *p = protocol_for(me, bytes);
    return p->startup_s + p->byte_s * (double)bytes + p->hop_s * hops(me, partner);
}

static void *room(Node *me, long bytes)
{
    if ((size_t)bytes > me->capacity || me->buffer == NULL) {
        me->capacity = (size_t)bytes;
        me->buffer = grown(me->buffer, me->capacity);
    }
    return me->buffer;
}

static void check_partner(const Node *me, int partner, long bytes)
{
    if (partner < 0 || partner >= me->procs || partner == me->rank || bytes < 0)
        fail("rank %d cannot exchange %ld bytes with rank %d", me->rank, bytes, partner);
}

/* In [0, 1), from the seed, the rank and how many messages it has sent (the finalizer of splitmix64). */
static double chance(const Node *me)
{
    unsigned long long z = (unsigned long long)me->seed * 0x9e3779b97f4a7c15ULL;
    z ^= ((unsigned long long)me->rank << 40) + (unsigned long long)books_of(me)->messages + 1;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* Start of every send: breaks ties between ranks that send at the same instant, and notes the time. */
static void book_send(Node *me, int to, long bytes)
{
    double late_s = me->stagger_s * (me->seed < 0 ? me->rank : me->procs * chance(me));
    if (late_s > 0.0)
        smpi_execute(late_s);
    Queue *q = &shared.queues[(size_t)me->rank * (size_t)me->procs + (size_t)to];
    if (q->head == q->tail)
        q->head = q->tail = 0;
    if (q->tail == q->capacity) {
        q->capacity = q->capacity ? 2 * q->capacity : 4;
        q->sent = grown(q->sent, (size_t)q->capacity * sizeof *q->sent);
    }
    q->sent[q->tail++] = (Sent){.called_s = MPI_Wtime(), .bytes = bytes};
    books_of(me)->messages += 1;
    books_of(me)->bytes += bytes;
}

static long smaller(long a, long b)
{
    return a < b ? a : b;
}

/* What SMPI is given of a message, so that with its envelope as many bytes travel as the message has. */
static int payload(long bytes)
{
    return (int)(bytes - smaller(bytes, ENVELOPE));
}

static void idle(double seconds)
{
    if (seconds > 0.0)
        smpi_execute(seconds);
}

void csend(Node *me, int to, long bytes)
{
    check_partner(me, to, bytes);
    double called_s = MPI_Wtime();
    const Protocol *p = protocol_for(me, bytes);
    double inside_s = p->byte_s * (double)smaller(bytes, ENVELOPE);
    double rest_s = p->byte_s * ENVELOPE - inside_s; /* completes the start-up: SMPI was told startup - 16 byte */
    if (!me->eager)
        rest_s += p->byte_s * (double)bytes + p->hop_s * hops(me, to);
    book_send(me, to, bytes);
    idle(inside_s);
    MPI_Send(room(me, bytes), payload(bytes), MPI_BYTE, to, 0, MPI_COMM_WORLD);
    idle(rest_s);
    books_of(me)->send_s += MPI_Wtime() - called_s;
}

void isend(Node *me, int to, long bytes)
{
    check_partner(me, to, bytes);
    double called_s = MPI_Wtime();
    double byte_s = protocol_for(me, bytes)->byte_s, inside_s = byte_s * (double)smaller(bytes, ENVELOPE);
    MPI_Request request;
    book_send(me, to, bytes);
    idle(inside_s);
    MPI_Isend(room(me, bytes), payload(bytes), MPI_BYTE, to, 0, MPI_COMM_WORLD, &request); /* copies the bytes */
    MPI_Request_free(&request);
    idle(byte_s * ENVELOPE - inside_s);
    books_of(me)->send_s += MPI_Wtime() - called_s;
}

static void record(const Record *entry)
{
    if (shared.recorded == shared.capacity) {
        shared.capacity = shared.capacity ? 2 * shared.capacity : 1024;
        shared.records = grown(shared.records, shared.capacity * sizeof *shared.records);
    }
    shared.records[shared.recorded++] = *entry;
}

void crecv(Node *me, int from, long bytes)
{
    check_partner(me, from, bytes);
    Record r = {.from = from, .to = me->rank, .called_s = MPI_Wtime()};
    MPI_Status status;
    int received;
    MPI_Recv(room(me, bytes), payload(bytes), MPI_BYTE, from, 0, MPI_COMM_WORLD, &status);
    r.returned_s = MPI_Wtime();
    MPI_Get_count(&status, MPI_BYTE, &received);
    Queue *q = &shared.queues[(size_t)from * (size_t)me->procs + (size_t)me->rank];
    Sent sent = q->sent[q->head++];
    if (received != payload(bytes) || sent.bytes != bytes)
        fail("rank %d expected %ld bytes of rank %d and got %ld", me->rank, bytes, from, sent.bytes);
    r.bytes = bytes;
    r.sent_s = sent.called_s;

    double alone_s = r.sent_s + uncontended_s(me, from, bytes); /* arrival, were the links free */
    double partner_s = r.sent_s > r.called_s ? r.sent_s - r.called_s : 0.0;
    double ready_s = alone_s > r.called_s ? alone_s : r.called_s;
    double link_s = r.returned_s > ready_s ? r.returned_s - ready_s : 0.0;
    Books *books = books_of(me);
    books->partner_s += partner_s;
    books->link_s += link_s;
    books->transmission_s += r.returned_s - r.called_s - partner_s - link_s;
    if (me->traced)
        record(&r);
}
