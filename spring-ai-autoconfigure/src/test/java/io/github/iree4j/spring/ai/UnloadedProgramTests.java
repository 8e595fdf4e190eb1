package io.github.iree4j.spring.ai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.generation.GenerationRequest;
import io.github.iree4j.generation.Generator;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.ai.observation.conventions.AiOperationType;

/** The cache of a program that was unloaded. */
@Timeout(300)
class UnloadedProgramTests {
    @TempDir
    private Path folder;

    private long atCreation;

    private static void answer(GeneratorSource source) throws InterruptedException {
        TokenSource.Tokens tokens = source.submit(GenerationRequest.of(3, 1, 2, 3), AiOperationType.CHAT);
        while (tokens.next().isPresent()) {
            assertThat(tokens.sharedTokens()).isZero();
        }
    }

    @Test
    void aReloadedProgramFindsTheMemoryOfTheCacheFree() {
        SmallDecoder.runner(folder).run(context -> {
            ChatSettings settings = SmallDecoder.settings(folder).build();
            Programs programs = context.getBean(Programs.class);
            IreeRuntime runtime = context.getBean(IreeRuntime.class);
            try (GeneratorSource source = new GeneratorSource(programs, settings, (program, options) -> {
                atCreation = runtime.device().allocator().statistics().bytesLive();
                return Generator.create(program, options);
            })) {
                answer(source);
                long first = atCreation; // the program alone
                programs.unload("chat", null);
                programs.load("chat", null);
                answer(source);
                assertThat(atCreation).as("live bytes beside the new cache").isEqualTo(first);
                programs.unload("chat", null);
                assertThatExceptionOfType(IreeException.class)
                        .isThrownBy(() -> answer(source))
                        .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.NOT_FOUND));
                assertThat(runtime.device().allocator().statistics().bytesLive())
                        .as("live bytes without a program")
                        .isZero();
            }
        });
    }

    @Test
    void aReloadedProgramWaitsForTheMemoryOfACacheBeingFreed() {
        SmallDecoder.runner(folder).run(context -> {
            Programs programs = context.getBean(Programs.class);
            IreeRuntime runtime = context.getBean(IreeRuntime.class);
            ChatSettings settings = SmallDecoder.settings(folder).build();
            List<Generator> made = new CopyOnWriteArrayList<>();
            CountDownLatch release = new CountDownLatch(1);
            try (GeneratorSource source = new GeneratorSource(programs, settings, (program, options) -> {
                atCreation = runtime.device().allocator().statistics().bytesLive();
                made.add(Generator.create(program, options));
                return made.getLast();
            })) {
                answer(source);
                long first = atCreation;
                holdThread(made.getFirst(), release);
                programs.unload("chat", null);
                while (source.generator().isPresent()) { // another thread closes, and waits for the held thread
                    Thread.onSpinWait();
                }
                programs.load("chat", null);
                CompletableFuture<Void> second = CompletableFuture.runAsync(
                        () -> assertThatNoException().isThrownBy(() -> answer(source)),
                        task -> Thread.ofPlatform().start(task));
                while (made.size() < 2 && !isCreatorWaiting()) {
                    Thread.onSpinWait();
                }
                release.countDown();
                second.join();
                assertThat(atCreation).as("live bytes beside the new cache").isEqualTo(first);
            }
        });
    }

    /** Holds the thread of a generator in the callback of a generation. */
    private static void holdThread(Generator generator, CountDownLatch release) {
        Thread test = Thread.currentThread();
        boolean held = false;
        while (!held) { // a generation that is over has its callback on this thread
            CompletableFuture<Boolean> holds = new CompletableFuture<>();
            generator.submit(GenerationRequest.of(3, 1, 2, 3)).result().whenComplete((_, _) -> {
                boolean isGenerators = Thread.currentThread() != test;
                holds.complete(isGenerators);
                if (isGenerators) {
                    try {
                        release.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                }
            });
            held = holds.join();
        }
    }

    private static boolean isCreatorWaiting() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(each ->
                        each.getName().equals("iree4j-generator-create") && each.getState() == Thread.State.WAITING);
    }

    @Test
    void anUnloadFreesTheCacheWithoutAnotherRequest() {
        SmallDecoder.runner(folder).run(context -> {
            Programs programs = context.getBean(Programs.class);
            IreeRuntime runtime = context.getBean(IreeRuntime.class);
            try (GeneratorSource source =
                    new GeneratorSource(programs, SmallDecoder.settings(folder).build())) {
                answer(source);
                programs.unload("chat", null);
                while (runtime.device().allocator().statistics().bytesLive() > 0) { // another thread closes
                    assertThat(Thread.interrupted())
                            .as("the time of the test is over")
                            .isFalse();
                    Thread.onSpinWait();
                }
                assertThat(source.generator()).isEmpty();
            }
        });
    }
}
