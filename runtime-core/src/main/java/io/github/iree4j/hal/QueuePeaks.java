package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;

/**
 * The largest numbers of a queue's operations at once since a reader last asked.
 *
 * @param pending operations waiting to be issued
 * @param inFlight issued and unfinished operations; never includes operations run on the submitting thread, and includes
 *     operations executed in parts only if unfinished now
 */
@NotForApplications
public record QueuePeaks(long pending, long inFlight) {}
