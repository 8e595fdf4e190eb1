package io.github.iree4j.generation.sampling;

import static io.github.iree4j.generation.sampling.Expression.chain;
import static io.github.iree4j.generation.sampling.Expression.repeat;
import static io.github.iree4j.generation.sampling.Expression.text;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Expressions of the integers from a number to another, written in decimal digits. */
final class IntegerRange {
    /** Bounds are at most so far from 0. */
    static final long LARGEST = 1_000_000_000_000_000_000L;

    private IntegerRange() {}

    /**
     * Returns the integers of a range that is not empty.
     *
     * @param least null for any
     * @param most null for any
     */
    static Expression of(@Nullable Long least, @Nullable Long most) {
        if (least == null && most == null) {
            return JsonText.INTEGER;
        }
        List<Expression> choices = new ArrayList<>();
        if (least == null || least < 0) {
            long from = most == null || most >= 0 ? 1 : -most;
            choices.add(chain(text("-"), positive(from, least == null ? null : (Long) (-least))));
        }
        if (most == null || most >= 0) {
            long from = least == null || least < 0 ? 0 : least;
            if (from == 0) {
                choices.add(text("0"));
            }
            if (most == null || most > 0) {
                choices.add(positive(Math.max(1, from), most));
            }
        }
        return Expression.choice(choices);
    }

    private static Expression positive(long least, @Nullable Long most) {
        List<Expression> choices = new ArrayList<>();
        String low = Long.toString(least);
        String last = most == null ? "9".repeat(low.length()) : Long.toString(most);
        for (int digits = low.length(); digits <= last.length(); digits++) {
            String from = digits == low.length() ? low : "1" + "0".repeat(digits - 1);
            String to = digits == last.length() ? last : "9".repeat(digits);
            choices.add(sameLength(from, to));
        }
        if (most == null) {
            choices.add(chain(digit('1', '9'), repeat(digit('0', '9'), low.length(), JsonText.ANY)));
        }
        return Expression.choice(choices);
    }

    private static Expression sameLength(String low, String high) {
        if (low.isEmpty()) {
            return Expression.EMPTY;
        }
        if (low.chars().allMatch(each -> each == '0') && high.chars().allMatch(each -> each == '9')) {
            return repeat(
                    digit('0', '9'), low.length(), low.length()); // two alternatives per digit would grow by powers
        }
        char first = low.charAt(0);
        char last = high.charAt(0);
        String lowRest = low.substring(1);
        String highRest = high.substring(1);
        if (first == last) {
            return chain(digit(first, first), sameLength(lowRest, highRest));
        }
        List<Expression> choices = new ArrayList<>();
        choices.add(chain(digit(first, first), sameLength(lowRest, "9".repeat(lowRest.length()))));
        if (last - first > 1) {
            choices.add(chain(
                    digit((char) (first + 1), (char) (last - 1)),
                    repeat(digit('0', '9'), lowRest.length(), lowRest.length())));
        }
        choices.add(chain(digit(last, last), sameLength("0".repeat(highRest.length()), highRest)));
        return Expression.choice(choices);
    }

    private static Expression digit(char low, char high) {
        return new Expression.Range(low, high);
    }
}
