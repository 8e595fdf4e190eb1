/** Claims about memory pools and their waiters. */
package io.github.iree4j.hal.pool;
