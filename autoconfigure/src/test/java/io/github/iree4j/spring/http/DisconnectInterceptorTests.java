package io.github.iree4j.spring.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.CallOptions;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.Results;
import io.github.iree4j.spring.InvocationRequest;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

class DisconnectInterceptorTests {

    private final IreeRuntime runtime = IreeRuntime.create();
    private final Program program = TestModules.idle(runtime);
    private final AtomicBoolean gone = new AtomicBoolean();
    private final AtomicInteger asked = new AtomicInteger();
    private final Queue<Runnable> looks = new ArrayDeque<>();
    private final DisconnectInterceptor interceptor = new DisconnectInterceptor(new ClientWatches(looks::add));

    @BeforeEach
    void serve() {
        Thread thread = Thread.currentThread();
        MockHttpServletRequest served = new MockHttpServletRequest();
        served.setAttribute(ClientConnection.ATTRIBUTE, new ClientConnection() {
            @Override
            public Thread thread() {
                return thread;
            }

            @Override
            public boolean isClosed() {
                asked.incrementAndGet();
                return gone.get();
            }

            @Override
            public void end() {
                throw new AssertionError("the call ends, not the connection");
            }
        });
        RequestContextHolder.setRequestAttributes(new ServletRequestAttributes(served));
    }

    @AfterEach
    void close() {
        RequestContextHolder.resetRequestAttributes();
        program.close();
        runtime.close();
    }

    private InvocationRequest request(boolean blocking) {
        return new InvocationRequest(
                new LoadedProgram(ProgramSource.of("m", "m.vmfb"), List.of(program)),
                program.function("f"),
                List.of(),
                CallOptions.DEFAULTS,
                blocking);
    }

    private void look() {
        looks.remove().run();
    }

    @Test
    void aCallOnTheThreadOfItsRequestIsInterruptedWhenTheClientHasGone() {
        CompletableFuture<Results> call = interceptor.intercept(request(true), _ -> {
            look();
            assertThat(Thread.currentThread().isInterrupted())
                    .as("the client is there")
                    .isFalse();
            gone.set(true);
            look();
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
            return CompletableFuture.failedFuture(IreeException.of(StatusCode.CANCELLED, "interrupted"));
        });
        assertThat(Thread.interrupted()).as("afterwards").isFalse();
        assertThat(call.exceptionNow())
                .hasMessageContaining("its client has closed the connection")
                .extracting(e -> ((IreeException) e).code())
                .isEqualTo(StatusCode.CANCELLED);
    }

    @Test
    void aCallElsewhereIsCancelledWhenTheClientHasGone() {
        CompletableFuture<Results> running = new CompletableFuture<>();
        CompletableFuture<Results> call = interceptor.intercept(request(true), _ -> running);
        look();
        assertThat(running).isNotDone();
        gone.set(true);
        look();
        assertThat(running).isCompletedExceptionally();
        assertThat(call.exceptionNow()).hasMessageContaining("its client has closed the connection");
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void connectionsAreLookedAtOnlyDuringCallsAwaitedByTheirThreads() {
        CompletableFuture<Results> running = new CompletableFuture<>();
        interceptor.intercept(request(false), _ -> running);
        assertThat(looks).isEmpty();
        interceptor.intercept(request(true), _ -> running);
        running.complete(null);
        look();
        assertThat(looks).as("further looks").isEmpty();
    }

    /** The container gives the connection to the next request as soon as the waiting thread goes on. */
    @Test
    void whoeverLearnsOfTheEndOfACallKnowsOfTheEndOfLooksAtItsConnection() {
        CompletableFuture<Results> running = new CompletableFuture<>();
        CompletableFuture<Integer> looked = interceptor
                .intercept(request(true), _ -> running)
                .handle((_, _) -> {
                    int before = asked.get();
                    look();
                    return asked.get() - before;
                });
        look();
        assertThat(asked).as("during the call").hasValue(1);
        running.complete(null);
        assertThat(looked).isCompletedWithValue(0);
    }

    @Test
    void aConnectionOfAThrowingCallIsNotLookedAtAnyMore() {
        assertThatThrownBy(() -> interceptor.intercept(request(true), _ -> {
                    throw new IllegalStateException("an interceptor further in");
                }))
                .hasMessage("an interceptor further in");
        look();
        assertThat(looks).as("further looks").isEmpty();
    }
}
