package io.github.iree4j;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.vm.CallTracer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Does something whenever a function of a program is entered. */
record EnteredTracer(Runnable action) implements CallTracer {
    @Override
    public void entered(int depth, String function, List<? extends @Nullable Object> arguments) {
        action.run();
    }

    @Override
    public void returned(int depth, String function, List<? extends @Nullable Object> results) {}

    @Override
    public void deferred(int depth, String function) {}

    @Override
    public void resumed(int depth, String function) {}

    @Override
    public void failed(int depth, String function, IreeException failure) {}
}
