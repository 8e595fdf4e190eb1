package io.github.iree4j.hal.pool;

/**
 * What one consumer has.
 *
 * @param consumer its name; empty for those without one
 * @param quota how many bytes it may have
 * @param bytesTransient bytes in queue order now
 * @param bytesPersistent bytes whose lifetime the host decides, now
 * @param bytesPeak the most that both were together
 */
public record ConsumerStatistics(
        String consumer, long quota, long bytesTransient, long bytesPersistent, long bytesPeak) {}
