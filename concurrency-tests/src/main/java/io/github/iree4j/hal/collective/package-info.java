/** Claims about the local device. */
package io.github.iree4j.hal.collective;
