package io.github.iree4j.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.iree4j.call.CallState.State;
import org.junit.jupiter.api.Test;

/** The states of a call, and who may change a state. */
class CallStateTest {
    private final CallState call = new CallState();

    @Test
    void aHeldCallIsMadeUnlessEndedBefore() {
        call.become(State.FOR_MEMORY);
        assertThat(call.takeHeld(State.ENDED)).isTrue();
        assertThat(call.takeHeld(State.ADMITTED))
                .as("admission of an ended call")
                .isFalse();
        assertThat(call.makeHeld()).isFalse();
        assertThat(call.takeHeld(State.ENDED)).as("second end").isFalse();
        assertThat(call.place().state()).isEqualTo(State.ENDED);
    }

    @Test
    void aCallBeingMadeIsNotEndedUnlessHeldAgain() {
        call.become(State.FOR_MEMORY);
        assertThat(call.takeHeld(State.ADMITTED)).isTrue();
        assertThat(call.makeHeld()).isTrue();
        assertThat(call.takeHeld(State.ENDED)).as("end of a call being made").isFalse();
        assertThat(call.makeHeld()).as("by a thread that goes on").isTrue();
        call.become(State.BEFORE_INPUTS); // inputs lack memory, and the fence is not reached
        assertThat(call.takeHeld(State.ENDED)).isTrue();
    }

    @Test
    void aCallThatIsOverWasMadeOrNot() {
        call.become(State.FOR_MEMORY);
        call.endBeforeSignal();
        assertThat(call.isMade()).isFalse();
        CallState made = new CallState();
        made.become(State.IN_LINE);
        made.endBeforeSignal();
        assertThat(made.isMade()).isTrue();
    }

    @Test
    void anIllegalChangeFailsTheTestsOfCalls() {
        assumeTrue(CallState.class.desiredAssertionStatus(), "without assertions");
        assertThatThrownBy(() -> call.become(State.SUSPENDED))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("MAKING");
        call.runHere();
        assertThatThrownBy(() -> call.become(State.FOR_MEMORY)).isInstanceOf(AssertionError.class);
    }
}
