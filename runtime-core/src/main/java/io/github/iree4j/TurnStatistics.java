package io.github.iree4j;

import java.time.Duration;

/**
 * How long calls of a program have waited for their turn. See {@link Program#turns}.
 *
 * @param inLine calls that wait now
 * @param waited calls that have waited and got their turn; those that found it free do not count
 * @param time how long they have waited
 */
public record TurnStatistics(int inLine, long waited, Duration time) {
    TurnStatistics plus(TurnStatistics other) {
        return new TurnStatistics(inLine + other.inLine, waited + other.waited, time.plus(other.time));
    }
}
