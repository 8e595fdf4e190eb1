package io.github.iree4j.monitor;

import java.time.Duration;

/**
 * Waits of a program's calls for their turn. See {@link ProgramMonitor#turns}.
 *
 * @param inLine number of calls waiting now
 * @param waited number of calls that have waited and got their turn; calls that found the turn free do not count
 * @param time total time of these waits
 */
public record TurnStatistics(int inLine, long waited, Duration time) {
    /**
     * Returns the sum of these statistics and others.
     *
     * @param other statistics of other calls
     * @return the sum
     */
    public TurnStatistics plus(TurnStatistics other) {
        return new TurnStatistics(inLine + other.inLine, waited + other.waited, time.plus(other.time));
    }
}
