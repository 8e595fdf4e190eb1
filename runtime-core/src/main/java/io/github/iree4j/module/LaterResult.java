package io.github.iree4j.module;

import io.github.iree4j.vm.VmWait;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Results of a method returning a future: the call waits for the future without occupying a thread. */
final class LaterResult {
    private final JavaFunction function;
    private final MethodHandle writer;

    private LaterResult(JavaFunction function, MethodHandle writer) {
        this.function = function;
        this.writer = writer.asType(MethodType.methodType(void.class, Scope.class, Object.class));
    }

    /** {@code (Scope, stage)void}, from the writer of the result. */
    static MethodHandle writer(JavaFunction function, MethodHandle writer, Class<?> stage) {
        try {
            return MethodHandles.lookup()
                    .findVirtual(
                            LaterResult.class,
                            "accept",
                            MethodType.methodType(void.class, Scope.class, CompletionStage.class))
                    .bindTo(new LaterResult(function, writer))
                    .asType(MethodType.methodType(void.class, Scope.class, stage));
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    void accept(Scope scope, @Nullable CompletionStage<?> stage) throws Throwable {
        if (stage == null) {
            throw new NullPointerException("'" + function + "' returned null for a future");
        }
        CompletableFuture<?> future = stage.toCompletableFuture();
        if (future.isDone()) {
            writer.invokeExact(scope, (Object) future.join());
            return;
        }
        scope.call().attach(new Pending(this, scope, future));
        scope.call().defer(VmWait.of(future));
        scope.defer();
    }

    /** A waiting call; closed if the call is abandoned. */
    record Pending(LaterResult result, Scope scope, CompletableFuture<?> future) implements AutoCloseable {
        void finish() throws Throwable {
            result.writer.invokeExact(scope, (Object) future.join());
        }

        @Override
        public void close() {
            future.cancel(true);
            scope.close();
        }
    }
}
