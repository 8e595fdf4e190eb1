/**
 * The flight recorder: the submissions to the queues of a scheduling domain, the decision about each wait with the
 * premise, the times of execution, and the memory used; as a bounded ring in memory or a bounded file. With
 * explanations and exports of recordings.
 *
 * <p>Start at {@link io.github.iree4j.flight.FlightRecorder}. The scheduler and the pools report here through
 * observers, and to nothing while no recorder is open.
 */
@NotForApplications
@NullMarked
package io.github.iree4j.flight;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;
