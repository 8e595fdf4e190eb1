package io.github.iree4j.hal.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The view of a constant given to a user, and the bytes at its begin. */
class ConstantViewsTest {
    private static final String ORIGINAL = "constant";

    private final List<Note> all = new ArrayList<>();
    private Runnable beforeNext = () -> {}; // runs once, when the next view has been made
    private final MemoryHolder maker = holder("loading");
    private final ConstantViews<Note> views = madeBy(maker);

    /** A view with a text as its bytes. */
    private static class Note extends ConstantViews.View {
        private final String first;
        private String text;
        private boolean closed;

        Note(@Nullable Note base) {
            first = base == null ? ORIGINAL : base.text;
            text = first;
        }

        @Override
        protected boolean isWritten() {
            return !text.equals(first);
        }

        @Override
        protected boolean tryRestore() {
            text = first;
            return true;
        }

        @Override
        protected void close() {
            assertThat(closed).as("closed before").isFalse();
            closed = true;
        }
    }

    private static MemoryHolder holder(String name) {
        return new MemoryHolder(name, new OperationsUnderWay());
    }

    /** A view of hardware that is given later work before reporting the stores of earlier work. */
    private static final class LateNote extends Note {
        LateNote(@Nullable Note base) {
            super(base);
        }

        @Override
        protected boolean isKnownLate() {
            return true;
        }
    }

    private ConstantViews<Note> madeBy(MemoryHolder call) {
        return madeBy(call, Note::new);
    }

    private ConstantViews<Note> madeBy(MemoryHolder call, UnaryOperator<@Nullable Note> source) {
        MemoryHolder before = call.enter();
        try {
            return new ConstantViews<>(
                    8,
                    base -> {
                        Note made = Objects.requireNonNull(source.apply(base));
                        all.add(made);
                        Runnable first = beforeNext;
                        beforeNext = () -> {};
                        first.run();
                        return made;
                    },
                    null);
        } finally {
            call.leave(before);
        }
    }

    @AfterEach
    void everyViewIsClosedOnce() {
        views.close();
        assertThat(all).allMatch(each -> each.closed);
    }

    /** A writing execution. */
    private void write(Object user, String text) {
        Note view = views.begin(user);
        view.text = text;
        views.end(view, user);
    }

    private String readBy(@Nullable Object user) {
        Note seen = views.seenBy(user);
        return seen == null ? ORIGINAL : seen.text;
    }

    @Test
    void storesOfTheMakerStayForOthers() {
        write(maker, "initialised");
        MemoryHolder call = holder("call");
        assertThat(readBy(call)).isEqualTo("initialised");
        assertThat(readBy(null)).isEqualTo("initialised");
        Note view = views.begin(call);
        assertThat(view.text).isEqualTo("initialised");
        views.end(view, call);
        assertThat(readBy(call)).isEqualTo("initialised");
    }

    @Test
    void storesOfAnotherCallEndWithTheCall() {
        write(maker, "initialised");
        MemoryHolder call = holder("call");
        write(call, "of the call");
        assertThat(readBy(call)).isEqualTo("of the call");
        assertThat(readBy(maker)).isEqualTo("initialised");
        call.end();
        MemoryHolder next = holder("next");
        Note view = views.begin(next);
        assertThat(view.text).isEqualTo("initialised");
        views.end(view, next);
    }

    @Test
    void aViewBegunBeforeTheMakersWritesIsNotUsedAgain() {
        MemoryHolder early = holder("early");
        Note before = views.begin(early);
        MemoryHolder other = holder("other");
        views.end(views.begin(other), other); // idle now
        write(maker, "initialised");
        MemoryHolder late = holder("late");
        Note after = views.begin(late);
        assertThat(after.text).isEqualTo("initialised");
        assertThat(before.text).as("the view in use").isEqualTo(ORIGINAL);
        views.end(before, early);
        early.end();
        Note last = views.begin(holder("last"));
        assertThat(last.text).isEqualTo("initialised");
    }

    @Test
    void duringTheMakersWritesOthersUseItsView() {
        Note making = views.begin(maker);
        making.text = "half";
        MemoryHolder call = holder("call");
        Note used = views.begin(call);
        assertThat(used).isSameAs(making);
        making.text = "initialised";
        views.end(used, call);
        views.end(making, maker);
        assertThat(readBy(call)).isEqualTo("initialised");
        Note own = views.begin(call);
        assertThat(own).isNotSameAs(making);
        assertThat(own.text).isEqualTo("initialised");
        views.end(own, call);
    }

    @Test
    void aViewMadeWhileTheMakerWritesIsReplaced() {
        MemoryHolder call = holder("call");
        beforeNext = () -> write(maker, "initialised");
        Note view = views.begin(call);
        assertThat(view.text).isEqualTo("initialised");
        views.end(view, call);
    }

    @Test
    void laterWritesOfTheMakerStayToo() {
        write(maker, "first");
        MemoryHolder call = holder("call");
        views.end(views.begin(call), call);
        write(maker, "second");
        assertThat(readBy(call)).isEqualTo("second");
        Note view = views.begin(call);
        assertThat(view.text).isEqualTo("second");
        views.end(view, call);
    }

    /** VIEW-1: the reader holds no use of the view. */
    @Test
    void anUnwrittenViewInUseIsNotRead() {
        MemoryHolder call = holder("call");
        Note view = views.begin(call);
        assertThat(views.seenBy(call))
                .as("after the use another call may write the view, and the reader still reads")
                .isNull();
        view.text = "of the call";
        assertThat(views.seenBy(call)).isSameAs(view);
        views.end(view, call);
    }

    /** VIEW-1: the reader is issued before the stores are known. */
    @Test
    void anUnwrittenViewKnownLateStaysWithItsCall() {
        try (ConstantViews<Note> late = madeBy(maker, LateNote::new)) {
            MemoryHolder call = holder("call");
            Note view = late.begin(call);
            assertThat(late.seenBy(call))
                    .as("for an operation behind the writer")
                    .isSameAs(view);
            late.end(view, call);
            assertThat(late.seenBy(call))
                    .as("for the same operation, still to run")
                    .isSameAs(view);
            MemoryHolder other = holder("other");
            Note another = late.begin(other);
            assertThat(another).isNotSameAs(view);
            late.end(another, other);
            call.end();
            Note next = late.begin(holder("next"));
            assertThat(next).as("free once the call has finished").isSameAs(view);
        }
    }

    @Test
    void aViewKnownLateInUseByTheMakerMayBeWritten() {
        try (ConstantViews<Note> late = madeBy(maker, LateNote::new)) {
            Note making = late.begin(maker);
            Object execution = new Object();
            Note used = late.begin(execution);
            assertThat(used).as("the maker's stores are not reported yet").isSameAs(making);
            late.end(making, maker);
            late.end(used, execution);
            Note next = late.begin(execution);
            assertThat(next).as("the view of the maker is not free").isNotSameAs(making);
            late.end(next, execution);
        }
    }
}
