package io.github.iree4j;

import java.time.Duration;

/**
 * Waits of a program's calls for their turn. See {@link Program#turns}.
 *
 * @param inLine number of calls waiting now
 * @param waited number of calls that have waited and got their turn; calls that found the turn free do not count
 * @param time total time of these waits
 */
public record TurnStatistics(int inLine, long waited, Duration time) {
    TurnStatistics plus(TurnStatistics other) {
        return new TurnStatistics(inLine + other.inLine, waited + other.waited, time.plus(other.time));
    }
}
