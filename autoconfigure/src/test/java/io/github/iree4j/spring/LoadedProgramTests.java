package io.github.iree4j.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.Results;
import io.github.iree4j.spring.Programs.LocatedFunction;
import io.github.iree4j.vm.NativeModule;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.core.io.DefaultResourceLoader;

/** The instance of a program with several contexts that makes a call. */
@Timeout(60)
class LoadedProgramTests {

    private static final int CONTEXTS = 4;

    @TempDir
    private Path directory;

    private final IreeRuntime runtime = IreeRuntime.create();
    private final Programs programs = new Programs(runtime, new DefaultResourceLoader());
    private final InvocationService invocations = new InvocationService(programs);
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final AtomicInteger inside = new AtomicInteger();
    private final CountDownLatch gate = new CountDownLatch(1);

    @BeforeEach
    void loadTheProgram() throws IOException {
        programs.load(ProgramSource.builder("gate", "file:" + TestModules.adder(directory))
                .contexts(CONTEXTS)
                .customizer(options -> options.module(NativeModule.builder("gate", 1, () -> this)
                        .function("pass", "0v_v", (_, _) -> {
                            inside.incrementAndGet();
                            awaitUninterruptibly();
                        })
                        .build()))
                .build());
    }

    @AfterEach
    void close() {
        gate.countDown();
        threads.close();
        programs.close();
        runtime.close();
    }

    private void awaitUninterruptibly() {
        try {
            gate.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void awaitInside(int calls) {
        while (inside.get() < calls) {
            assertThat(Thread.currentThread().isInterrupted())
                    .as("by the timeout")
                    .isFalse();
            Poll.pause();
        }
    }

    /** Requests after a wait for a place were located while other calls were under way. */
    @Test
    void callsLocatedOnAnInstanceAreMadeByIdleInstances() throws Exception {
        LocatedFunction early = programs.locate("gate.pass");
        List<Future<?>> calls = new ArrayList<>();
        for (int i = 0; i < CONTEXTS; i++) {
            calls.add(threads.submit(() -> invocations.request(early).invoke().close()));
        }
        awaitInside(CONTEXTS);
        gate.countDown();
        for (Future<?> each : calls) {
            each.get();
        }
    }

    @Test
    void callsWithoutAThreadAreMadeByIdleInstances() throws Exception {
        LocatedFunction early = programs.locate("gate.pass");
        List<Future<Results>> calls = new ArrayList<>();
        for (int i = 0; i < CONTEXTS; i++) {
            calls.add(invocations.request(early).priority(1).invokeAsync());
        }
        assertThat(early.program().instances())
                .extracting(each -> each.monitor().activeCalls())
                .containsOnly(1);
        gate.countDown();
        for (Future<Results> each : calls) {
            each.get().close();
        }
    }

    /** A choice counts before the chosen instance knows of the call. */
    @Test
    void choicesOfTheSameMomentAreDifferentInstances() {
        LocatedFunction located = programs.locate("gate.pass");
        for (int round = 0; round < 1000; round++) {
            ConcurrentHashMap<Program, LoadedProgram.Chosen> chosen = new ConcurrentHashMap<>();
            List<Future<?>> choices = new ArrayList<>();
            for (int i = 0; i < CONTEXTS; i++) {
                choices.add(threads.submit(() -> {
                    LoadedProgram.Chosen one = located.program().choose(located.function());
                    chosen.put(one.function().program(), one);
                }));
            }
            for (Future<?> each : choices) {
                assertThat(each).succeedsWithin(Duration.ofMinutes(1));
            }
            assertThat(chosen).hasSize(CONTEXTS);
            chosen.values().forEach(LoadedProgram.Chosen::end);
        }
    }
}
