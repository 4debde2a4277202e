/*
 * A run that does not want to end: `stubborn KIND...` starts one process of each kind, prints the number of each on one line, and
 * stays. Like the subprocess of a run it adopts the orphans below it.
 *
 *   plain         ignores SIGTERM (they all do)
 *   setsid        in a session of its own
 *   daemon        forked twice, in a session of its own: its parent is gone
 *   pipe          blocked writing into a pipe that nobody reads
 *   clear         started anew with no environment
 *   clear-daemon  both
 *   thread        its first thread has ended, another runs
 *   relay         forks a successor in a session of its own and ends, 200 times a second, for ten seconds
 *
 * A failed test leaves none of them for long: they end by themselves after a minute.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { LONGEST_S = 60 };

static char *self;

static void *stay(void *ignored) {
  for (;;) pause();
  return ignored;
}

static void say(int out) {
  int pid = getpid();
  if (write(out, &pid, sizeof pid) != sizeof pid) _exit(1);
  close(out);
}

static void be(const char *kind, int out) {
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  if (!strcmp(kind, "setsid") || strstr(kind, "daemon") || !strcmp(kind, "relay")) setsid();
  if (strstr(kind, "daemon") && fork() > 0) _exit(0);
  alarm(LONGEST_S);
  if (!strncmp(kind, "clear", 5)) {
    char number[16];
    snprintf(number, sizeof number, "%d", out);
    char *arguments[] = {self, "--plain", number, NULL}, *environment[] = {NULL};
    execve(self, arguments, environment);
    _exit(1);
  }
  say(out);
  if (!strcmp(kind, "pipe")) {
    int ends[2];
    static char full[65536];
    if (pipe(ends)) _exit(1);
    for (;;)
      if (write(ends[1], full, sizeof full) < 0) _exit(1);
  }
  if (!strcmp(kind, "relay"))
    for (int left = 2000; left > 0; left--) {
      usleep(5000);
      if (fork() > 0) _exit(0);
      setsid();
      alarm(LONGEST_S);
    }
  if (!strcmp(kind, "thread")) {
    pthread_t thread;
    pthread_create(&thread, NULL, stay, NULL);
    pthread_exit(NULL);
  }
  stay(NULL);
}

int main(int count, char **arguments) {
  self = arguments[0];
  if (count == 3 && !strcmp(arguments[1], "--plain")) be("plain", atoi(arguments[2]));
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  signal(SIGTERM, SIG_IGN);
  alarm(LONGEST_S);
  int ends[2];
  if (pipe(ends)) return 1;
  for (int index = 1; index < count; index++) {
    if (fork() == 0) {
      close(ends[0]);
      be(arguments[index], ends[1]);
    }
  }
  close(ends[1]);
  for (int index = 1; index < count; index++) {
    int pid;
    if (read(ends[0], &pid, sizeof pid) != sizeof pid) return 1;
    printf(index > 1 ? " %d" : "%d", pid);
  }
  printf("\n");
  fflush(stdout);
  stay(NULL);
}
