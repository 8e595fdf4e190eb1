package io.github.iree4j.async;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.FileFault;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The future of a call: a {@link CompletableFuture} whose {@link #await()} throws the runtime's own exception. Futures
 * derived by {@code thenApply} and similar methods are of this class, too. Completing the future of a call from outside,
 * by {@code cancel} or {@code orTimeout}, cancels the call; completing a derived future does not. Thread-safe.
 *
 * @param <T> the type of the outcome
 */
public class IreeFuture<T> extends CompletableFuture<T> {

    private final @Nullable String function;

    /** Creates an incomplete future of a call without a name. */
    @NotForApplications
    public IreeFuture() {
        this(null);
    }

    /**
     * Creates an incomplete future.
     *
     * @param function the full name of the called function, for messages, also of derived futures; null where unknown
     */
    @NotForApplications
    public IreeFuture(@Nullable String function) {
        this.function = function;
    }

    /**
     * Returns a future that is complete.
     *
     * @param value the outcome
     * @return the future
     * @param <T> the type of the outcome
     */
    public static <T> IreeFuture<T> completed(T value) {
        IreeFuture<T> future = new IreeFuture<>();
        future.complete(value);
        return future;
    }

    /**
     * Returns a future that has failed.
     *
     * @param failure the failure
     * @return the future
     * @param <T> the type of the outcome
     */
    public static <T> IreeFuture<T> failed(Throwable failure) {
        IreeFuture<T> future = new IreeFuture<>();
        future.completeExceptionally(failure);
        return future;
    }

    /**
     * Returns a future with this class's {@link #await()}.
     *
     * @param future a future
     * @return the same future, if of this class already; otherwise a {@link #following following} future
     * @param <T> the type of the outcome
     */
    @NotForApplications
    public static <T> IreeFuture<T> of(CompletableFuture<T> future) {
        return future instanceof IreeFuture<T> same ? same : following(future, outcome -> outcome, IreeFuture::close);
    }

    /**
     * Returns a future that completes with the converted outcome of another future. Completing the returned future from
     * outside cancels the other future.
     *
     * @param source the other future
     * @param conversion converts the outcome; a failure is the failure of the returned future
     * @param unreceived frees a converted outcome that arrives after the returned future was completed from outside
     * @return the future, with the name of the other future's function
     * @param <S> the type of the outcome
     * @param <T> the type of the converted outcome
     */
    @NotForApplications
    public static <S, T> IreeFuture<T> following(
            CompletableFuture<S> source, Function<? super S, ? extends T> conversion, Consumer<? super T> unreceived) {
        IreeFuture<T> following = new IreeFuture<>(function(source));
        following.whenComplete((_, _) -> {
            if (!source.isDone()) {
                source.cancel(true);
            }
        });
        source.whenComplete((outcome, failure) -> {
            if (failure != null) {
                following.completeExceptionally(failure instanceof CompletionException e ? e.getCause() : failure);
                return;
            }
            try {
                T converted = conversion.apply(outcome);
                if (!following.complete(converted)) {
                    unreceived.accept(converted);
                }
            } catch (RuntimeException | Error e) {
                following.completeExceptionally(e);
            }
        });
        return following;
    }

    /**
     * Returns the function whose call completes a future.
     *
     * @param future any future
     * @return the full name, for example {@code digits.classify}; null where unknown
     */
    @NotForApplications
    public static @Nullable String function(CompletableFuture<?> future) {
        return future instanceof IreeFuture<?> named ? named.function : null;
    }

    /**
     * Returns the outcome, after waiting if necessary. An interrupt of the waiting thread completes this future, and so
     * cancels the call if this is the call's future.
     *
     * @return the outcome
     * @throws IreeException the failure, with the stack of this thread and the original failure as the cause; CANCELLED
     *     when the future was cancelled, or the thread was interrupted while waiting (the thread stays interrupted)
     */
    public final T await() {
        try {
            return get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            IreeException cancelled = IreeException.of(
                    StatusCode.CANCELLED,
                    "interrupted while waiting for " + (function == null ? "a call" : "'" + function + "'"),
                    e);
            if (completeExceptionally(cancelled)) {
                throw cancelled;
            }
            return settled(); // completed concurrently
        } catch (ExecutionException e) {
            throw failure(e.getCause());
        } catch (CancellationException e) {
            throw failure(e);
        }
    }

    private static void close(@Nullable Object value) {
        if (value instanceof AutoCloseable resource) {
            try {
                resource.close();
            } catch (Exception e) {
                throw new IllegalStateException("cannot close an outcome without a receiver", e);
            }
        }
    }

    private T settled() {
        try {
            return join(); // settled, and completes at once if not complete yet
        } catch (CompletionException e) {
            throw failure(e.getCause());
        } catch (CancellationException e) {
            throw failure(e);
        }
    }

    /** Makes a failure with the stack of the waiting caller; the original failure is the cause. */
    private static IreeException failure(@Nullable Throwable cause) {
        return cause instanceof IreeException e ? IreeException.of(e.code(), e.getMessage(), e) : failureOf(cause);
    }

    /**
     * Returns the failure of a call as a failure of the runtime.
     *
     * @param cause the exception thrown by the call, or by a future of the call
     * @return the cause itself if possible, also as the cause of a {@link CompletionException}; CANCELLED for a
     *     cancelled future, DATA_LOSS for a mapped file that has become shorter, otherwise INTERNAL
     */
    @NotForApplications
    public static IreeException failureOf(@Nullable Throwable cause) {
        return switch (cause) {
            case IreeException e -> e;
            case CompletionException e when e.getCause() != null -> failureOf(e.getCause());
            case CancellationException e -> IreeException.of(StatusCode.CANCELLED, "call was cancelled", e);
            case InternalError fault -> FileFault.of("call", fault);
            case null, default -> IreeException.of(StatusCode.INTERNAL, "call failed: " + cause, cause);
        };
    }

    @Override
    public <U> IreeFuture<U> newIncompleteFuture() {
        return new IreeFuture<>(function);
    }
}
