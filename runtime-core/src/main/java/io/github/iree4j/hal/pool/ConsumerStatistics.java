package io.github.iree4j.hal.pool;

/**
 * The memory charged to one consumer.
 *
 * @param consumer its name; empty for consumers without one
 * @param quota bytes that it may have
 * @param bytesTransient bytes reserved for queue operations now
 * @param bytesPersistent bytes reserved for the host now
 * @param bytesPeak the peak of their sum
 */
public record ConsumerStatistics(
        String consumer, long quota, long bytesTransient, long bytesPersistent, long bytesPeak) {}
