/*
 * A stand-in for libnvidia-ml: the calls that the inventory makes, answered from the file that FAKE_NVML_PLAN names, which is read again for
 * each call. Its lines (fake-nvml.ts writes them):
 *
 *   init CODE        what nvmlInit_v2 returns
 *   wedge 1          every call blocks until the line is gone
 *   card BUS_ID \t UUID \t TOTAL \t USED \t UTILIZATION \t LOST \t NAME      (-1 for TOTAL or UTILIZATION: not supported)
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SUCCESS = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, INSUFFICIENT_SIZE = 7, GPU_IS_LOST = 15 };
enum { MAX_CARDS = 64, TEXT = 128 };

struct card {
  char bus_id[TEXT], uuid[TEXT], name[TEXT];
  long long total, used, utilization;
  int lost;
};
struct plan {
  int init, wedge, count;
  struct card cards[MAX_CARDS];
};
struct pci_info {
  char bus_id_legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};
struct memory {
  unsigned long long total, free, used;
};
struct utilization {
  unsigned gpu, memory;
};

static atomic_int calls, outstanding, max_outstanding, initialized;

/* For specs: how many calls came, and how many were ever under way at once. */
int fake_nvml_calls(void) { return calls; }
int fake_nvml_max_outstanding(void) { return max_outstanding; }
int fake_nvml_outstanding(void) { return outstanding; }

static void read_plan(struct plan *plan) {
  memset(plan, 0, sizeof *plan);
  const char *path = getenv("FAKE_NVML_PLAN");
  FILE *file = path ? fopen(path, "r") : NULL;
  if (!file) return;
  char line[1024];
  while (fgets(line, sizeof line, file)) {
    struct card *card = &plan->cards[plan->count];
    if (sscanf(line, "init %d", &plan->init) == 1 || sscanf(line, "wedge %d", &plan->wedge) == 1) continue;
    if (plan->count < MAX_CARDS && sscanf(line, "card %127[^\t]\t%127[^\t]\t%lld\t%lld\t%lld\t%d\t%127[^\n]", card->bus_id, card->uuid,
                                          &card->total, &card->used, &card->utilization, &card->lost, card->name) == 7)
      plan->count++;
  }
  fclose(file);
}

static void enter(struct plan *plan) {
  calls++;
  int now = ++outstanding;
  int seen = max_outstanding;
  while (now > seen && !atomic_compare_exchange_weak(&max_outstanding, &seen, now)) {
  }
  for (read_plan(plan); plan->wedge; read_plan(plan)) usleep(2000);
}

static int leave(int code) {
  outstanding--;
  return code;
}

/* A handle is the card's line number, from 1. */
static int find(struct plan *plan, void *device, struct card **card) {
  enter(plan);
  size_t number = (size_t)device;
  if (!initialized) return UNINITIALIZED;
  if (number < 1) return INVALID_ARGUMENT;
  if (number > (size_t)plan->count || plan->cards[number - 1].lost) return GPU_IS_LOST;
  *card = &plan->cards[number - 1];
  return SUCCESS;
}

static int copy(const char *text, char *to, unsigned length) {
  if (strlen(text) >= length) return INSUFFICIENT_SIZE;
  strcpy(to, text);
  return SUCCESS;
}

int nvmlInit_v2(void) {
  struct plan plan;
  enter(&plan);
  if (plan.init == SUCCESS) initialized = 1;
  return leave(plan.init);
}

int nvmlDeviceGetCount_v2(unsigned *count) {
  struct plan plan;
  enter(&plan);
  *count = (unsigned)plan.count;
  return leave(initialized ? SUCCESS : UNINITIALIZED);
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
  struct plan plan;
  struct card *card;
  *device = (void *)((size_t)index + 1);
  return leave(find(&plan, *device, &card));
}

int nvmlDeviceGetName(void *device, char *name, unsigned length) {
  struct plan plan;
  struct card *card;
  int code = find(&plan, device, &card);
  return leave(code ? code : copy(card->name, name, length));
}

int nvmlDeviceGetUUID(void *device, char *uuid, unsigned length) {
  struct plan plan;
  struct card *card;
  int code = find(&plan, device, &card);
  return leave(code ? code : copy(card->uuid, uuid, length));
}

int nvmlDeviceGetPciInfo_v3(void *device, struct pci_info *pci) {
  struct plan plan;
  struct card *card;
  int code = find(&plan, device, &card);
  if (code) return leave(code);
  memset(pci, 0, sizeof *pci);
  sscanf(card->bus_id, "%x:%x:%x", &pci->domain, &pci->bus, &pci->device);
  return leave(copy(card->bus_id, pci->bus_id, sizeof pci->bus_id));
}

int nvmlDeviceGetMemoryInfo(void *device, struct memory *memory) {
  struct plan plan;
  struct card *card;
  int code = find(&plan, device, &card);
  if (code) return leave(code);
  if (card->total < 0) return leave(NOT_SUPPORTED);
  memory->total = (unsigned long long)card->total;
  memory->used = (unsigned long long)card->used;
  memory->free = memory->total - memory->used;
  return leave(SUCCESS);
}

int nvmlDeviceGetUtilizationRates(void *device, struct utilization *rates) {
  struct plan plan;
  struct card *card;
  int code = find(&plan, device, &card);
  if (code) return leave(code);
  if (card->utilization < 0) return leave(NOT_SUPPORTED);
  rates->gpu = (unsigned)card->utilization;
  rates->memory = 0;
  return leave(SUCCESS);
}
