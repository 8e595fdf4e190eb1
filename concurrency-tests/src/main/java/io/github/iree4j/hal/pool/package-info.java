/** Claims about pools of memory and those who wait for it. */
package io.github.iree4j.hal.pool;
