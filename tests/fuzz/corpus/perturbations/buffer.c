#include <sys/types.h> /* types */
#define LOG(x) do { /* two
  lines */ puts(#x); } while (0) // \
  still a comment
#error do not // why
#pragma omp parallel // for

/****\
 * box
\****/
int read_all(int fd) {
	char *path = "a\
// b", quote = '\''; // end
	return fd /*a*/ / 2;
}
