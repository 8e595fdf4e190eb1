package io.github.iree4j.spring.ai;

import java.util.List;

/**
 * Finds the first stop sequence in a text that arrives in pieces. Text that may be the start of a stop sequence is held
 * back. The match that ends first counts, of several the longest, so that pieces make no difference. Not thread-safe.
 */
final class StopMatcher {
    private final List<String> stops;
    private final StringBuilder held = new StringBuilder();
    private boolean stopped;

    /**
     * Creates a matcher.
     *
     * @param stops the stop sequences, none of them empty
     */
    StopMatcher(List<String> stops) {
        this.stops = stops;
    }

    /** Returns whether a stop sequence was found. */
    boolean isStopped() {
        return stopped;
    }

    /**
     * Adds a piece.
     *
     * @return the text before a stop sequence as far as known; empty after a stop sequence
     */
    String add(String piece) {
        if (stops.isEmpty()) {
            return piece;
        }
        for (int i = 0; i < piece.length() && !stopped; i++) {
            held.append(piece.charAt(i));
            int longest = 0;
            for (String stop : stops) {
                longest = stop.length() > longest && endsWith(stop, stop.length()) ? stop.length() : longest;
            }
            if (longest > 0) {
                held.setLength(held.length() - longest);
                stopped = true;
            }
        }
        return taken(stopped ? held.length() : held.length() - candidate());
    }

    /** Returns the text held back, when no more text follows. */
    String finish() {
        return taken(held.length());
    }

    private String taken(int length) {
        String text = held.substring(0, length);
        held.delete(0, length);
        return text;
    }

    /** Returns the length of the longest end of the text that a stop sequence begins with. */
    private int candidate() {
        int longest = 0;
        for (String stop : stops) {
            for (int length = Math.min(stop.length() - 1, held.length()); length > longest; length--) {
                if (endsWith(stop, length)) {
                    longest = length;
                }
            }
        }
        return longest;
    }

    /** Returns whether the text ends with the first characters of a stop sequence. */
    private boolean endsWith(String stop, int length) {
        int start = held.length() - length;
        if (start < 0) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            if (held.charAt(start + i) != stop.charAt(i)) {
                return false;
            }
        }
        return true;
    }
}
