package io.github.iree4j.spring.ai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.Program;
import io.github.iree4j.async.Deadline;
import io.github.iree4j.generation.GenerationRequest;
import io.github.iree4j.generation.Generator;
import io.github.iree4j.generation.GeneratorOptions;
import io.github.iree4j.spring.ProgramLoadException;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.ai.observation.conventions.AiOperationType;

/** Generators that take their time to begin. */
@Timeout(300)
class GeneratorSourceTests {
    @TempDir
    private Path folder;

    private final Slow creator = new Slow();

    /** Creates each generator after a permit, and fails if told so. */
    private static final class Slow implements GeneratorSource.Creator {
        final Semaphore begun = new Semaphore(0);
        final Semaphore permits = new Semaphore(0);
        final List<Generator> made = new CopyOnWriteArrayList<>();
        final List<Program> asked = new CopyOnWriteArrayList<>();
        volatile boolean fails;

        @Override
        public Generator create(Program program, GeneratorOptions options) {
            asked.add(program);
            begun.release();
            permits.acquireUninterruptibly();
            if (fails) {
                fails = false;
                throw IreeException.of(StatusCode.ABORTED, "the probe failed");
            }
            Generator generator = Generator.create(program, options);
            made.add(generator);
            return generator;
        }

        /** Returns whether no step can be made by a generator. */
        boolean isClosed(int index) {
            try {
                made.get(index).submit(GenerationRequest.of(1, 1)).cancel();
                return false;
            } catch (IreeException e) {
                assertThat(e.code()).isEqualTo(StatusCode.FAILED_PRECONDITION);
                return true;
            }
        }
    }

    private interface Scenario {
        void run(Programs programs, GeneratorSource source, ExecutorService threads) throws Exception;
    }

    private void run(Scenario scenario) {
        SmallDecoder.runner(folder).run(context -> {
            ChatSettings settings = SmallDecoder.settings(folder).build();
            Programs programs = context.getBean(Programs.class);
            GeneratorSource source = new GeneratorSource(programs, settings, creator);
            try (ExecutorService threads = Executors.newThreadPerTaskExecutor(Thread::new)) {
                scenario.run(programs, source, threads);
            } finally {
                creator.permits.release(100);
                source.close();
            }
        });
    }

    private static TokenSource.Tokens submit(GeneratorSource source, int tokens) {
        return source.submit(GenerationRequest.of(tokens, 1, 2, 3), AiOperationType.CHAT);
    }

    private static int read(TokenSource.Tokens tokens) throws InterruptedException {
        int count = 0;
        while (tokens.next().isPresent()) {
            count++;
        }
        return count;
    }

    private static void loadSecondVersion(Programs programs) {
        load(programs, "2");
    }

    private static Program load(Programs programs, String version) {
        ProgramSource first = programs.find("chat").orElseThrow().source();
        return programs.load(ProgramSource.builder("chat", first.location())
                        .parameters(first.parameters())
                        .version(version)
                        .build())
                .program();
    }

    /** Submits a request, and returns once a generator is being created for the request. */
    private Future<TokenSource.Tokens> submitAndCreate(GeneratorSource source, ExecutorService threads)
            throws InterruptedException {
        Future<TokenSource.Tokens> submitted = threads.submit(() -> submit(source, 1));
        creator.begun.acquire();
        return submitted;
    }

    /** Submits a request, and returns once the request waits for a creator. */
    private static Future<TokenSource.Tokens> submitAndWait(GeneratorSource source, ExecutorService threads) {
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        Future<TokenSource.Tokens> submitted = threads.submit(() -> {
            thread.complete(Thread.currentThread());
            return submit(source, 1);
        });
        while (thread.join().getState() != Thread.State.WAITING) {
            assertThat(submitted).isNotDone();
            Thread.onSpinWait();
        }
        return submitted;
    }

    private static void assertFails(Future<?> request, StatusCode code) {
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(request::get)
                .havingCause()
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(code));
    }

    @Test
    void deadlineEndsTheWaitForAGeneratorAndNotTheCreation() {
        run((programs, source, threads) -> {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> source.load(Deadline.after(Duration.ofNanos(1))))
                    .withMessageContaining("was not created within 1 ns")
                    .extracting(IreeException::code)
                    .isEqualTo(StatusCode.DEADLINE_EXCEEDED);
            creator.permits.release();
            source.load(Deadline.after(Duration.ofMinutes(5)));
            assertThat(creator.made).hasSize(1);
        });
    }

    @Test
    void answersOfTheFormerGeneratorGoOnWhileAnotherIsCreated() {
        run((programs, source, threads) -> {
            creator.permits.release();
            CountDownLatch goOn = new CountDownLatch(1);
            source.listen((generation, _, _, _) -> {
                if (generation.number() == 0) { // holds the thread of the generator
                    awaitUninterruptibly(goOn);
                }
            });
            TokenSource.Tokens first = submit(source, 50);
            TokenSource.Tokens second = submit(source, 60);
            TokenSource.Tokens third = submit(source, 70);
            creator.begun.acquire();
            loadSecondVersion(programs);
            Future<TokenSource.Tokens> newer = submitAndCreate(source, threads);
            goOn.countDown();
            assertThat(read(first)).isEqualTo(50);
            assertThat(read(second)).isEqualTo(60);
            assertThat(read(third)).isEqualTo(70);
            assertThat(creator.isClosed(0)).isFalse();
            assertThat(newer).isNotDone();
            creator.permits.release();
            assertThat(read(newer.get())).isOne();
            assertThat(creator.isClosed(0)).isTrue();
        });
    }

    @Test
    void requestsAtTheSameTimeGetASingleGenerator() {
        run((_, source, threads) -> {
            List<Future<TokenSource.Tokens>> all = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                all.add(submitAndWait(source, threads));
            }
            creator.permits.release(4);
            for (Future<TokenSource.Tokens> each : all) {
                assertThat(read(each.get())).isOne();
            }
            assertThat(creator.made).hasSize(1);
        });
    }

    @Test
    void aWaitingRequestTriesAgainAfterAFailure() {
        run((_, source, threads) -> {
            creator.fails = true;
            Future<TokenSource.Tokens> first = submitAndCreate(source, threads);
            Future<TokenSource.Tokens> second = submitAndWait(source, threads);
            creator.permits.release();
            assertFails(first, StatusCode.ABORTED);
            creator.permits.release();
            assertThat(read(second.get())).isOne();
        });
    }

    @Test
    void anInterruptedRequestDoesNotWaitForTheCreator() {
        run((_, source, threads) -> {
            Future<TokenSource.Tokens> first = submitAndCreate(source, threads);
            Thread.currentThread().interrupt();
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> submit(source, 1))
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.CANCELLED));
            assertThat(Thread.interrupted()).isTrue();
            creator.permits.release();
            assertThat(read(first.get())).isOne();
        });
    }

    /** Otherwise clients that do not wait long enough keep the generator from being created. */
    @Test
    void aLeavingRequestDoesNotEndItsBegunCreation() {
        run((_, source, threads) -> {
            CompletableFuture<Thread> thread = new CompletableFuture<>();
            Future<TokenSource.Tokens> first = threads.submit(() -> {
                thread.complete(Thread.currentThread());
                return submit(source, 1);
            });
            creator.begun.acquire();
            thread.join().interrupt();
            assertFails(first, StatusCode.CANCELLED);
            Future<TokenSource.Tokens> second = submitAndWait(source, threads);
            creator.permits.release();
            assertThat(read(second.get())).isOne();
            assertThat(creator.asked).hasSize(1);
        });
    }

    @Test
    void aGeneratorCreatedDuringTheCloseIsClosed() {
        run((_, source, threads) -> {
            Future<TokenSource.Tokens> creating = submitAndCreate(source, threads);
            Future<TokenSource.Tokens> waiting = submitAndWait(source, threads);
            CompletableFuture<Thread> closer = new CompletableFuture<>();
            Future<?> closed = threads.submit(() -> {
                closer.complete(Thread.currentThread());
                source.close();
            });
            while (closer.join().getState() != Thread.State.WAITING) {
                assertThat(closed).as("waits for the creator").isNotDone();
                Thread.onSpinWait();
            }
            creator.permits.release(2);
            closed.get();
            assertThat(creator.made).hasSize(1);
            assertThat(creator.isClosed(0)).isTrue();
            assertFails(creating, StatusCode.UNAVAILABLE);
            assertFails(waiting, StatusCode.UNAVAILABLE);
        });
    }

    @Test
    void aProgramIsNotReplacedWhileItsGeneratorIsCreated() {
        run((programs, source, threads) -> {
            Future<TokenSource.Tokens> first = submitAndCreate(source, threads);
            assertThatExceptionOfType(ProgramLoadException.class)
                    .isThrownBy(() -> programs.load("chat", null))
                    .havingCause()
                    .withMessageContaining("unload it before");
            creator.fails = true;
            creator.permits.release();
            assertFails(first, StatusCode.ABORTED);
            programs.load("chat", null);
        });
    }

    @Test
    void aVersionLoadedDuringTheCreationGetsTheRequest() {
        run((programs, source, threads) -> {
            Future<TokenSource.Tokens> first = submitAndCreate(source, threads);
            loadSecondVersion(programs);
            creator.permits.release(2);
            assertThat(read(first.get())).isOne();
            assertThat(creator.made).hasSize(2);
            assertThat(creator.isClosed(0)).isTrue();
            assertThat(source.generator()).containsSame(creator.made.get(1));
        });
    }

    /** Requests that have waited for a creator look for the program again. */
    @Test
    void aProgramNoLongerInUseGetsNoGenerator() {
        run((programs, source, threads) -> {
            Program first = programs.find("chat").orElseThrow().program();
            Future<TokenSource.Tokens> creating = submitAndCreate(source, threads);
            Program second = load(programs, "2");
            Future<TokenSource.Tokens> newer = submitAndWait(source, threads);
            load(programs, "3");
            Future<TokenSource.Tokens> stale = submitAndWait(source, threads);
            programs.unload("chat", "3");
            creator.permits.release(10);
            for (Future<TokenSource.Tokens> each : List.of(creating, newer, stale)) {
                assertThat(read(each.get())).isOne();
            }
            assertThat(creator.asked).containsExactly(first, second);
            assertThat(source.generator()).containsSame(creator.made.get(1));
        });
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
