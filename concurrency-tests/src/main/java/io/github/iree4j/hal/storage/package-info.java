/** Claims about storage of buffers in queue order. */
package io.github.iree4j.hal.storage;
