/** Claims about the scheduler of queues. */
package io.github.iree4j.hal.schedule;
