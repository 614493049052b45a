/* The handle table. A handle is a kind, a generation and an index, so that null, stale and foreign ones are a status
 * and never a crash. Slots are never freed, only reused with the next generation: whoever waits for the lock of an
 * object that is destroyed meanwhile finds another generation when it gets the lock. While one thread makes all calls
 * (biased_lock.h) no slot is locked.
 *
 * A memory that lies over others moves words of theirs in its calls, so its slot knows theirs: they cannot be destroyed
 * before it, and a call with it or with one of them locks all such memories first, then its own slots. Nothing else
 * here knows what the objects are. */
#include "handles.h"

#include "biased_lock.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SLOTS 256U
#define MAX_BLOCKS 16384U
#define FEW_CLAIMS 4U
#define MAX_GENERATION 0xffffffU

/* bits 0..31 index, 32..55 generation, 56..63 this tag plus the kind */
#define TAG 0xd0U

struct td_dpi_slot {
    pthread_mutex_t lock; /* held while a call uses the object, unless it is biased; guards handle and object */
    td_dpi_u64 handle;    /* 0 while the slot is free */
    void *object;
    uint32_t index;
    _Atomic uint32_t generation; /* read without the lock to tell stale from foreign */
    atomic_bool layered;         /* a memory lies, or has lain, over the object, or it over others */
    uint32_t users;              /* memories that lie over it, or use it; guarded by layers_lock */
    bool lent;                   /* a map owns the object */
    td_dpi_u64 *below;           /* what the object lies over or uses itself */
    size_t below_count;
    struct td_dpi_slot *next_free;
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;  /* guards free_slots and the growth of the table */
static pthread_mutex_t layers_lock = PTHREAD_MUTEX_INITIALIZER; /* before those of slots */
static struct td_dpi_slot *free_slots;
static _Atomic(struct td_dpi_slot *) blocks[MAX_BLOCKS];
static unsigned block_count;

static const char *kind_name(unsigned kind)
{
    static const char *const names[] = {"object",
                                        "tensor",
                                        "memory",
                                        "layout",
                                        "report",
                                        "code",
                                        "record of faults",
                                        "layout of parts",
                                        "map",
                                        "program",
                                        "list of checkpoints"};
    return names[kind < sizeof names / sizeof *names ? kind : 0];
}

static unsigned kind_of(td_dpi_u64 handle)
{
    unsigned kind = (unsigned)(handle >> 56) - TAG;
    return kind >= TD_DPI_TENSOR && kind <= TD_DPI_CHECKPOINTS ? kind : 0;
}

int td_dpi_done(td_status status, const char **message)
{
    *message = status == TD_OK ? "" : td_last_error();
    return (int)status;
}

int td_dpi_fail(td_status status, const char **message, const char *fmt, ...)
{
    static _Thread_local char *kept;
    va_list args;
    va_start(args, fmt);
    free(kept);
    kept = NULL;
    *message = vasprintf(&kept, fmt, args) < 0 ? "the system refused memory for the message" : kept;
    va_end(args);
    return (int)status;
}

td_status td_dpi_keep(char **kept, const char *text, const char **out, const char **message)
{
    char *copy = strdup(text);
    if (!copy)
        return (td_status)td_dpi_fail(TD_NO_MEMORY, message, "the system refused %zu bytes; free memory", strlen(text));
    free(*kept);
    *out = *kept = copy;
    return TD_OK;
}

/* The slot that a handle names, which may hold another generation by now; NULL when no slot was ever there. */
static struct td_dpi_slot *find_slot(td_dpi_u64 handle)
{
    uint32_t index = (uint32_t)handle;
    if (index / BLOCK_SLOTS >= MAX_BLOCKS)
        return NULL;
    struct td_dpi_slot *block = atomic_load_explicit(&blocks[index / BLOCK_SLOTS], memory_order_acquire);
    return block ? &block[index % BLOCK_SLOTS] : NULL;
}

static td_status refuse(const char *call, td_dpi_u64 handle, td_dpi_kind kind, const struct td_dpi_slot *slot,
                        const char **message)
{
    const char *needed = kind_name(kind);
    unsigned found = kind_of(handle);
    uint32_t generation = (uint32_t)(handle >> 32) & MAX_GENERATION;
    if (handle == 0)
        td_dpi_fail(TD_HANDLE, message, "%s: the %s is null; create it first", call, needed);
    else if (found == 0 || slot == NULL || generation > slot->generation)
        td_dpi_fail(TD_HANDLE, message, "%s: 0x%llx is no handle of this library; pass the handle of a %s", call,
                    handle, needed);
    else if (found != (unsigned)kind)
        td_dpi_fail(TD_HANDLE, message, "%s: handle 0x%llx is a %s; pass a %s", call, handle, kind_name(found), needed);
    else
        td_dpi_fail(TD_HANDLE, message, "%s: the %s with handle 0x%llx was destroyed; use it before, or create another",
                    call, needed, handle);
    return TD_HANDLE;
}

static void unlock_claims(const td_dpi_claim *claims, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (claims[i].slot)
            pthread_mutex_unlock(&claims[i].slot->lock);
}

void td_dpi_release(const td_dpi_claim *claims, size_t count)
{
    if (claims[0].biased)
        td_dpi_leave_biased();
    else
        unlock_claims(claims, count);
    if (claims[0].layers)
        pthread_mutex_unlock(&layers_lock);
}

int td_dpi_end(const td_dpi_claim *claims, size_t count, td_status status, const char **message)
{
    td_dpi_release(claims, count);
    return td_dpi_done(status, message);
}

static bool fits(const td_dpi_claim *claim, const struct td_dpi_slot *slot)
{
    return slot && kind_of(claim->handle) == (unsigned)claim->kind;
}

/* With the bias: every handle is looked at, nothing is locked. */
static td_status take_claims(const char *call, td_dpi_claim *claims, size_t count, const char **message)
{
    for (size_t i = 0; i < count; i++) {
        td_dpi_claim *claim = &claims[i];
        claim->object = NULL;
        claim->biased = true;
        claim->layers = false;
        if (!claim->handle && claim->optional)
            continue;
        claim->slot = find_slot(claim->handle);
        if (!fits(claim, claim->slot) || claim->slot->handle != claim->handle) {
            td_dpi_leave_biased();
            return refuse(call, claim->handle, claim->kind, claim->slot, message);
        }
        claim->object = claim->slot->object;
    }
    return TD_OK;
}

/* Finds the slots and puts the claims that have one in index order. */
static td_status sort_claims(const char *call, td_dpi_claim *claims, size_t count, td_dpi_claim **order,
                             size_t *ordered, const char **message)
{
    for (size_t i = 0; i < count; i++) {
        td_dpi_claim *claim = &claims[i];
        claim->object = NULL;
        claim->slot = NULL;
        claim->biased = false;
        if (!claim->handle && claim->optional)
            continue;
        claim->slot = find_slot(claim->handle);
        if (!fits(claim, claim->slot))
            return refuse(call, claim->handle, claim->kind, claim->slot, message);
        size_t at = (*ordered)++;
        for (; at > 0 && order[at - 1]->slot->index > claim->slot->index; at--)
            order[at] = order[at - 1];
        order[at] = claim;
    }
    return TD_OK;
}

/* In index order, so that two calls that share objects cannot wait for each other. */
static td_status lock_claims(const char *call, td_dpi_claim **order, size_t ordered, const char **message)
{
    for (size_t i = 0; i < ordered; i++) {
        td_dpi_claim *claim = order[i];
        struct td_dpi_slot *slot = claim->slot;
        if (i > 0 && order[i - 1]->handle == claim->handle) { /* given twice, locked once */
            claim->object = order[i - 1]->object;
            claim->slot = NULL;
            continue;
        }
        pthread_mutex_lock(&slot->lock);
        if (slot->handle != claim->handle) {
            td_status status = refuse(call, claim->handle, claim->kind, slot, message);
            pthread_mutex_unlock(&slot->lock);
            for (size_t k = 0; k < i; k++)
                unlock_claims(order[k], 1);
            return status;
        }
        claim->object = slot->object;
    }
    return TD_OK;
}

/* Without the bias. `layers`: with the lock of the memories that lie over others, which is known to be needed. */
static td_status claim_locked(const char *call, td_dpi_claim *claims, size_t count, bool layers, const char **message)
{
    td_dpi_claim *few[FEW_CLAIMS];
    td_dpi_claim **order = few;
    if (count > FEW_CLAIMS) { /* sets of banks */
        order = malloc(count * sizeof(td_dpi_claim *));
        if (!order)
            return (td_status)td_dpi_fail(TD_NO_MEMORY, message, "%s: no memory for %zu handles; use fewer banks", call,
                                          count);
    }
    td_status status = TD_OK;
    for (bool again = true; again;) {
        size_t ordered = 0;
        if (layers)
            pthread_mutex_lock(&layers_lock);
        status = sort_claims(call, claims, count, order, &ordered, message);
        if (!status)
            status = lock_claims(call, order, ordered, message);
        if (status && layers)
            pthread_mutex_unlock(&layers_lock);
        claims[0].layers = layers && !status;
        again = false;
        for (size_t i = 0; i < ordered && !status && !layers; i++)
            again |= order[i]->slot && order[i]->slot->layered;
        if (again) { /* from the start, in the right order */
            unlock_claims(claims, count);
            layers = true;
        }
    }
    if (order != few)
        free(order);
    return status;
}

td_status td_dpi_claim_one(const char *call, td_dpi_claim *claim, const char **message)
{
    if (td_dpi_enter_biased())
        return take_claims(call, claim, 1, message);
    struct td_dpi_slot *slot = find_slot(claim->handle);
    if (!fits(claim, slot))
        return refuse(call, claim->handle, claim->kind, slot, message);
    pthread_mutex_lock(&slot->lock);
    if (slot->handle != claim->handle) {
        td_status status = refuse(call, claim->handle, claim->kind, slot, message);
        pthread_mutex_unlock(&slot->lock);
        return status;
    }
    if (slot->layered) {
        pthread_mutex_unlock(&slot->lock);
        return claim_locked(call, claim, 1, true, message);
    }
    claim->biased = claim->layers = false;
    claim->slot = slot;
    claim->object = slot->object;
    return TD_OK;
}

td_status td_dpi_claim_all(const char *call, td_dpi_claim *claims, size_t count, const char **message)
{
    if (td_dpi_enter_biased())
        return take_claims(call, claims, count, message);
    return claim_locked(call, claims, count, false, message);
}

td_status td_dpi_claim_below(const char *call, td_dpi_claim *claims, size_t count, const char **message)
{
    if (td_dpi_enter_biased())
        return take_claims(call, claims, count, message);
    return claim_locked(call, claims, count, true, message);
}

/* Under table_lock. */
static bool grow(void)
{
    if (block_count == MAX_BLOCKS)
        return false;
    struct td_dpi_slot *block = calloc(BLOCK_SLOTS, sizeof *block);
    if (!block)
        return false;
    for (uint32_t i = BLOCK_SLOTS; i-- > 0;) {
        pthread_mutex_init(&block[i].lock, NULL);
        block[i].index = block_count * BLOCK_SLOTS + i;
        block[i].next_free = free_slots;
        free_slots = &block[i];
    }
    atomic_store_explicit(&blocks[block_count++], block, memory_order_release);
    return true;
}

/* A map and the memories that it lends are layers of each other. */
static td_status create(td_dpi_kind kind, void *object, bool lent, td_dpi_u64 *below, size_t count, td_dpi_u64 *handle,
                        const char **message)
{
    pthread_mutex_lock(&table_lock);
    bool found = free_slots || grow();
    struct td_dpi_slot *slot = free_slots;
    if (found)
        free_slots = slot->next_free;
    pthread_mutex_unlock(&table_lock);
    if (!found) {
        td_dpi_fail(TD_NO_MEMORY, message,
                    "no room for the handle of another %s; destroy objects that are no longer used", kind_name(kind));
        return TD_NO_MEMORY;
    }
    const bool biased = td_dpi_enter_biased();
    if (!biased)
        pthread_mutex_lock(&slot->lock);
    slot->object = object;
    slot->layered = count > 0 || lent || kind == TD_DPI_MAP;
    slot->lent = lent;
    slot->users = 0;
    slot->below = below;
    slot->below_count = count;
    slot->generation++;
    slot->handle = (td_dpi_u64)(TAG + (unsigned)kind) << 56 | (td_dpi_u64)slot->generation << 32 | slot->index;
    *handle = slot->handle;
    if (biased)
        td_dpi_leave_biased();
    else
        pthread_mutex_unlock(&slot->lock);
    return TD_OK;
}

td_status td_dpi_handle_create(td_dpi_kind kind, void *object, td_dpi_u64 *handle, const char **message)
{
    return create(kind, object, false, NULL, 0, handle, message);
}

td_dpi_u64 td_dpi_handle_find(td_dpi_kind kind, const void *object)
{
    td_dpi_u64 found = 0;
    for (uint32_t b = 0; b < MAX_BLOCKS && !found; b++) {
        struct td_dpi_slot *block = atomic_load_explicit(&blocks[b], memory_order_acquire);
        if (!block)
            break;
        for (uint32_t i = 0; i < BLOCK_SLOTS && !found; i++)
            if (block[i].object == object && kind_of(block[i].handle) == (unsigned)kind)
                found = block[i].handle;
    }
    return found;
}

td_status td_dpi_handle_lend(void *memory, td_dpi_u64 *handle, const char **message)
{
    return create(TD_DPI_MEMORY, memory, true, NULL, 0, handle, message);
}

td_status td_dpi_handle_create_over(td_dpi_kind kind, void *object, const td_dpi_claim *below, size_t count,
                                    td_dpi_u64 *handle, const char **message)
{
    td_dpi_u64 *handles = malloc((count + 1) * sizeof *handles);
    if (!handles)
        return (td_status)td_dpi_fail(TD_NO_MEMORY, message, "no memory for %zu handles; use fewer arrays", count);
    for (size_t i = 0; i < count; i++)
        handles[i] = below[i].handle;
    const td_status status = create(kind, object, false, handles, count, handle, message);
    if (status)
        free(handles);
    for (size_t i = 0; i < count && !status; i++) {
        struct td_dpi_slot *slot = find_slot(handles[i]);
        slot->users++;
        slot->layered = true;
    }
    return status;
}

/* Of a memory whose slot is claimed: what it lay over may be destroyed now. */
static void let_go(struct td_dpi_slot *slot)
{
    for (size_t i = 0; i < slot->below_count; i++)
        find_slot(slot->below[i])->users--;
    free(slot->below);
    slot->below = NULL;
    slot->below_count = 0;
}

static td_status refuse_used(const char *call, const struct td_dpi_slot *slot, td_dpi_kind kind, const char **message)
{
    if (kind == TD_DPI_MEMORY)
        return (td_status)td_dpi_fail(
            TD_ARGUMENT, message, "%s \"%s\": %u %s over it; destroy what lies above a memory before it", call,
            td_memory_name(slot->object), slot->users, slot->users == 1 ? "memory lies" : "memories lie");
    return (td_status)td_dpi_fail(TD_ARGUMENT, message, "%s: %u %s this %s; destroy what uses it before it", call,
                                  slot->users, slot->users == 1 ? "memory uses" : "memories use", kind_name(kind));
}

static td_status take(const char *call, td_dpi_kind kind, td_dpi_u64 handle, bool lent, void **object,
                      const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = kind};
    td_status status = td_dpi_claim_one(call, &claim, message);
    if (status)
        return status;
    struct td_dpi_slot *slot = claim.slot;
    if (slot->users)
        status = refuse_used(call, slot, kind, message);
    else if (slot->lent != lent)
        status = (td_status)td_dpi_fail(TD_ARGUMENT, message, "%s \"%s\": a map has made it; destroy the map", call,
                                        td_memory_name(slot->object));
    if (status) {
        td_dpi_release(&claim, 1);
        return status;
    }
    let_go(slot);
    *object = slot->object;
    slot->object = NULL;
    slot->handle = 0;
    bool reusable = slot->generation < MAX_GENERATION;
    td_dpi_release(&claim, 1);
    if (reusable) {
        pthread_mutex_lock(&table_lock);
        slot->next_free = free_slots;
        free_slots = slot;
        pthread_mutex_unlock(&table_lock);
    }
    return TD_OK;
}

td_status td_dpi_handle_take(const char *call, td_dpi_kind kind, td_dpi_u64 handle, void **object, const char **message)
{
    return take(call, kind, handle, false, object, message);
}

td_status td_dpi_handle_unused(const char *call, td_dpi_u64 handle, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_MEMORY};
    td_status status = td_dpi_claim_one(call, &claim, message);
    if (status)
        return status;
    if (claim.slot->users)
        status = refuse_used(call, claim.slot, TD_DPI_MEMORY, message);
    td_dpi_release(&claim, 1);
    return status;
}

td_status td_dpi_handle_end_lent(const char *call, td_dpi_u64 handle, const char **message)
{
    void *object = NULL;
    return take(call, TD_DPI_MEMORY, handle, true, &object, message);
}
