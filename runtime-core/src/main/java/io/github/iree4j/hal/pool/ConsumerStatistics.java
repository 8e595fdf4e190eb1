package io.github.iree4j.hal.pool;

import io.github.iree4j.api.NotForApplications;

/**
 * The memory charged to a consumer.
 *
 * @param consumer the name of the consumer; empty for unnamed consumers
 * @param quota bytes permitted to the consumer
 * @param bytesTransient bytes reserved for queue operations now
 * @param bytesPersistent bytes reserved for the host now
 * @param bytesPeak the peak of transient and persistent bytes together
 */
@NotForApplications
public record ConsumerStatistics(
        String consumer, long quota, long bytesTransient, long bytesPersistent, long bytesPeak) {}
