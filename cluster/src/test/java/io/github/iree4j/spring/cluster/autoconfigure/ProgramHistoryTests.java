package io.github.iree4j.spring.cluster.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.cluster.autoconfigure.ProgramHistory.Call;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The checker of histories accepts possible histories, and finds each kind of fault. */
class ProgramHistoryTests {
    private static final float[] ONES = {1, 1, 1, 1};
    private static final float[] TWOS = {1, 2, 2, 2};
    private static final float[] AFTER_ONES = {1.5f, 1.25f, 1, 0};
    private static final float[] AFTER_BOTH = {2.5f, 3.25f, 3, 2};

    private final Object program = new Object();
    private long now;
    private final ProgramHistory history =
            new ProgramHistory(() -> now++, Duration.ofNanos(100), each -> each.code() == StatusCode.ABORTED);

    private void failed(Call call) {
        call.failed(IreeException.of(StatusCode.ABORTED, "lost"));
    }

    private void isFound(String fault) {
        assertThat(history.check()).singleElement().asString().contains(fault);
    }

    @Test
    void rightAnswersAndFailuresDuringAFaultAreAccepted() {
        history.begin("a", ONES).answered(ONES.clone());
        long begin = now;
        Call call = history.begin("a", ONES);
        history.harmedSince(begin);
        failed(call);
        assertThat(history.check()).isEmpty();
        assertThat(history.answers()).isOne();
        assertThat(history.failures()).containsEntry("a ABORTED", 1);
    }

    @Test
    void aWrongAnswerIsFound() {
        history.begin("a", ONES).answered(TWOS);
        isFound("wrong answer");
    }

    @Test
    void aCallWithoutAnEndOrWithTwoEndsIsFound() {
        Call call = history.begin("a", ONES);
        isFound("never ended");
        call.answered(ONES);
        call.answered(ONES);
        isFound("ended twice");
    }

    @Test
    void aLateEndIsFound() {
        Call call = history.begin("a", ONES);
        now += 200;
        call.answered(ONES);
        isFound("too long");
    }

    @Test
    void aFailureOnNoPageIsFound() {
        long begin = now;
        history.begin("a", ONES).failed(IreeException.of(StatusCode.INTERNAL, "?"));
        history.harmedSince(begin);
        isFound("not named on any page");
    }

    @Test
    void aFailureWithoutAFaultIsFound() {
        history.harmedSince(now);
        failed(history.begin("a", ONES));
        isFound("without a fault");
    }

    @Test
    void whateverIsNotedIsFound() {
        history.fault("a thread hangs");
        isFound("a thread hangs");
    }

    @Test
    void overlappingCallsOfASumMayTakePlaceInEitherOrder() {
        Call two = history.add("sum", program, TWOS);
        Call one = history.add("sum", program, ONES);
        two.answered(AFTER_BOTH);
        one.answered(AFTER_ONES);
        history.add("sum", new Object(), ONES).answered(AFTER_ONES); // loaded again
        assertThat(history.check()).isEmpty();
    }

    @Test
    void anOrderAgainstTheTimeIsFound() {
        history.add("sum", program, TWOS).answered(AFTER_BOTH);
        history.add("sum", program, ONES).answered(AFTER_ONES);
        isFound("had ended");
    }

    @Test
    void aCallMissingFromTheSumIsFound() {
        history.add("sum", program, ONES).answered(AFTER_ONES);
        history.add("sum", program, ONES).answered(AFTER_ONES);
        assertThat(history.check()).anyMatch(each -> each.contains("the same place in the order"));
    }

    @Test
    void aCallTwiceInTheSumIsFound() {
        history.add("sum", program, ONES).answered(new float[] {2.5f, 2.25f, 2, 1});
        assertThat(history.check()).anyMatch(each -> each.contains("more than failed"));
    }

    @Test
    void aFailedCallMayBeInTheSumOrNot() {
        long begin = now;
        failed(history.add("sum", program, ONES));
        failed(history.add("sum", program, ONES));
        history.harmedSince(begin);
        history.add("sum", program, TWOS).answered(AFTER_BOTH);
        assertThat(history.check()).isEmpty();
    }

    @Test
    void aFailedCallBegunTooLateForTheSumIsFound() {
        history.add("sum", program, TWOS).answered(AFTER_BOTH);
        long begin = now;
        failed(history.add("sum", program, ONES));
        history.harmedSince(begin);
        assertThat(history.check()).anyMatch(each -> each.contains("more than failed"));
    }

    @Test
    void aSumNotFollowingFromThePreviousSumIsFound() {
        history.add("sum", program, ONES).answered(AFTER_ONES);
        history.add("sum", program, ONES).answered(AFTER_BOTH);
        isFound("does not follow");
        long begin = now;
        failed(history.add("sum", program, ONES));
        history.harmedSince(begin);
        Object other = new Object();
        failed(history.add("sum", other, TWOS));
        history.add("sum", other, TWOS).answered(AFTER_BOTH);
        assertThat(history.check())
                .filteredOn(each -> each.contains("does not follow"))
                .hasSize(2);
    }

    @Test
    void aCallLostWithItsClientNeedsNoEndAndMayBeInTheSumOrNot() {
        history.begin("a", ONES).lose();
        history.add("sum", program, ONES).lose();
        history.add("sum", program, TWOS).answered(AFTER_BOTH);
        history.add("sum", program, ONES).lose();
        assertThat(history.check()).isEmpty();
        assertThat(history.answers()).isOne();
    }

    @Test
    void aCallDuringAReloadOfTheProgramMayBeInEitherSum() {
        Object next = new Object();
        Call call = history.add("sum", program, ONES);
        call.reloaded(next);
        call.answered(AFTER_ONES);
        history.add("sum", program, ONES).answered(AFTER_ONES);
        history.add("sum", next, TWOS).answered(AFTER_BOTH);
        assertThat(history.check()).isEmpty();
        history.add("sum", next, ONES).answered(new float[] {4.5f, 5.25f, 5, 4});
        assertThat(history.check()).anyMatch(each -> each.contains("more than failed"));
    }

    /** Prints calls as in another process, and reads all lines but the last. */
    private PrintedCalls.Reader printed(Consumer<PrintedCalls> calls, int unread) {
        List<String> lines = new ArrayList<>();
        calls.accept(new PrintedCalls(() -> now++, lines::add));
        PrintedCalls.Reader reader = new PrintedCalls.Reader(history);
        for (String each : lines.subList(0, lines.size() - unread)) {
            assertThat(reader.read(each)).isTrue();
        }
        return reader;
    }

    @Test
    void callsOfAnotherProcessAreCheckedLikeLocalCalls() {
        printed(
                calls -> {
                    calls.begin("right", ONES).answered(ONES);
                    calls.begin("wrong", ONES).answered(TWOS);
                    calls.begin("failed", ONES).failed(IreeException.of(StatusCode.INTERNAL, "in two\nlines ."));
                    calls.add("sum", program, ONES).answered(AFTER_ONES);
                    calls.add("sum", program, TWOS).answered(AFTER_BOTH);
                    ProgramCalls.Call call = calls.add("sum", program, ONES);
                    Object next = new Object();
                    call.reloaded(next);
                    call.answered(AFTER_ONES);
                    calls.add("sum", next, TWOS).answered(AFTER_BOTH);
                    calls.fault("a thread hangs");
                },
                0);
        assertThat(history.answers()).isEqualTo(6);
        assertThat(history.check())
                .hasSize(3)
                .anyMatch(each -> each.contains("a thread hangs"))
                .anyMatch(each -> each.contains("wrong of") && each.contains("wrong answer"))
                .anyMatch(each -> each.contains("INTERNAL; in two|lines .") && each.contains("not named on any page"));
    }

    @Test
    void theCallsOfAKilledProcessAreLost() {
        printed(
                        calls -> {
                            calls.begin("a", ONES).answered(ONES);
                            calls.begin("a", ONES).answered(TWOS);
                        },
                        1)
                .ended();
        assertThat(history.check()).isEmpty();
        PrintedCalls.Reader reader = new PrintedCalls.Reader(history);
        assertThat(reader.read("call 1 7 a - 1.0,1.0 .")).isTrue();
        assertThat(reader.read("answer 1 8 1.0,")).as("half of a line").isTrue();
        assertThat(reader.read("state ")).as("a line of something else").isFalse();
        assertThat(history.check()).singleElement().asString().contains("never ended");
    }
}
