package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Deadline;
import io.github.iree4j.generation.sampling.LogProbabilities;
import io.github.iree4j.generation.sampling.SamplingOptions;
import io.github.iree4j.generation.sampling.TokenConstraint;
import io.github.iree4j.generation.sampling.TokenVocabulary;
import io.github.iree4j.status.CallTimeoutException;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Generation with a model in Java, whose next token depends on all tokens before. */
@Tag("long")
@Timeout(600)
class GenerationLoopTest {
    private static final int TRIALS = Effort.rounds(1_600, 10_000);
    private static final long SEED = Effort.seed(GenerationLoopTest.class, TRIALS + " trials", 46);

    private static final List<TokenConstraint> CONSTRAINTS = Stream.of("(abc)*x?", "[ab]{1,5}c*", "(a|bc|x)+")
            .map(each -> TokenConstraint.regex(TokenVocabulary.of(PagedModel.TEXTS), each))
            .toList();

    /** A random generator with a random model. */
    static final class Setting implements AutoCloseable {
        final int stride;
        final int pages;
        final StepShapes shapes;
        final boolean position;
        final PagedModel model;
        final Speculation speculation;
        final @Nullable FakeDraft draft;
        final int hostPages;
        final StepPlanner planner;
        final GenerationLoop loop;

        Setting(SplittableRandom random, int pages) {
            this(random, pages, random.nextBoolean(), System::nanoTime);
        }

        Setting(SplittableRandom random, int pages, boolean position, LongSupplier clock) {
            this.pages = pages;
            this.position = position;
            stride = random.nextInt(1, 5);
            int columns = Math.max(2, Math.min(pages - 1, random.nextInt(2, 12)));
            shapes = new StepShapes(stride, columns, random.nextInt(1, columns + 1));
            boolean rows = random.nextInt(4) > 0;
            boolean anyShape = random.nextInt(3) > 0;
            boolean alike = position && rows && anyShape && random.nextInt(3) > 0;
            Measured measured =
                    new Measured(entries(random, true), entries(random, false), rows, anyShape, alike, alike);
            int proposals = random.nextInt(6);
            speculation = random.nextInt(3) > 0 ? new EveryProposal(proposals) : new Speculation(proposals);
            model = new PagedModel(shapes, position, pages);
            hostPages = random.nextInt(3) * random.nextInt(8);
            draft = random.nextInt(3) == 0 ? null : draft(random);
            Proposer proposer =
                    draft == null ? new PromptLookup() : draft.proposer(entries(random, true), entries(random, false));
            Admission admission = random.nextBoolean() ? new HastyAdmission() : new Admission();
            planner = new StepPlanner(
                    position, shapes, measured, pages, admission, speculation, proposer, 1, hostPages, model);
            loop = new GenerationLoop("fake", planner, model, model::scrub, 10_000, 3_000, clock, () -> {});
        }

        /** Returns a draft for sequences of another length, which makes any mistakes. */
        private FakeDraft draft(SplittableRandom random) {
            StepShapes other = new StepShapes(stride, random.nextInt(2, Math.max(3, pages)), random.nextInt(1, pages));
            FakeDraft made =
                    new FakeDraft(other, pages, random.split()).makes(FakeDraft.Mistake.TOKEN, random.nextInt(3) * 0.2);
            if (random.nextBoolean()) {
                made.makes(FakeDraft.Mistake.NO_NUMBER, random.nextInt(2) * 0.05)
                        .makes(FakeDraft.Mistake.FOREIGN, random.nextInt(2) * 0.05)
                        .makes(FakeDraft.Mistake.FAILURE, random.nextInt(2) * 0.05)
                        .makes(FakeDraft.Mistake.LOSS, random.nextInt(2) * 0.01)
                        .failsToScrub(random.nextInt(2) * 0.02);
            }
            return made;
        }

        private static List<Entry> entries(SplittableRandom random, boolean prefill) {
            List<Entry> entries = new ArrayList<>();
            for (int batch = 1; batch <= 8; batch *= 2) {
                if (random.nextBoolean() || batch == 8 && entries.isEmpty()) {
                    entries.add(new Entry((prefill ? "prefill_bs" : "decode_bs") + batch, prefill, batch));
                }
            }
            return entries;
        }

        /** Returns a random request, perhaps with the first tokens of an earlier request. */
        GenerationRequest request(SplittableRandom random, List<GenerationRequest> earlier) {
            int most = shapes.maximumTokens();
            int length = random.nextInt(1, most + 1);
            int[] prompt = random.ints(length, 0, PagedModel.VOCABULARY).toArray();
            if (!earlier.isEmpty() && random.nextInt(3) > 0) {
                int[] other = earlier.get(random.nextInt(earlier.size())).prompt();
                System.arraycopy(other, 0, prompt, 0, random.nextInt(Math.min(other.length, length) + 1));
            }
            GenerationRequest request = GenerationRequest.of(random.nextInt(1, most - length + 2), prompt);
            if (random.nextInt(4) == 0) {
                request = request.stopAt(Set.of(random.nextInt(PagedModel.VOCABULARY)));
            }
            if (random.nextInt(4) == 0) {
                return request.sampling(SamplingOptions.builder()
                        .temperature(random.nextInt(2))
                        .seed(random.nextLong())
                        .constraint(CONSTRAINTS.get(random.nextInt(CONSTRAINTS.size())))
                        .build());
            }
            return random.nextInt(3) > 0
                    ? request
                    : request.sampling(SamplingOptions.builder()
                            .temperature(1)
                            .topK(random.nextInt(5))
                            .topP(0.5f + random.nextInt(2) / 2f)
                            .minP(0.1f)
                            .seed(random.nextLong())
                            .presencePenalty(random.nextInt(3) / 2f)
                            .repetitionPenalty(1 + random.nextInt(2))
                            .logitBias(Map.of(random.nextInt(PagedModel.VOCABULARY), 1f))
                            .build());
        }

        /** Checks the tokens of all requests that do not fail, and returns the failures of the others. */
        Map<Integer, IreeException> failures(
                int trial, List<GenerationRequest> requests, List<Generation> generations) {
            Map<Integer, IreeException> failures = new HashMap<>();
            for (int i = 0; i < requests.size(); i++) {
                List<Integer> tokens;
                try {
                    tokens = generations.get(i).result().await().tokens();
                } catch (IreeException e) {
                    failures.put(i, e);
                    continue;
                }
                assertThat(tokens)
                        .as("request %d of trial %d, seed %d", i, trial, SEED)
                        .isEqualTo(PagedModel.expected(requests.get(i)));
            }
            return failures;
        }

        @Override
        public void close() {
            loop.close();
        }

        /** Closes, and checks that all pages are free and no step was wrong. */
        void end() {
            loop.close();
            assertThat(planner.availablePages()).as("free pages").isEqualTo(pages - 1);
            assertThat(planner.availableHostPages())
                    .as("free pages of the host")
                    .isEqualTo(hostPages);
            assertThat(planner.isIdle()).as("idle").isTrue();
            GeneratorStatistics last = loop.statistics();
            assertThat(last.running() + last.waiting()).as("requests").isZero();
            assertThat(last.freePages() + last.keptPages()).as("free pages").isEqualTo(pages - 1);
            assertThat(model.violations()).isEmpty();
            if (draft != null) {
                assertThat(draft.model.violations()).as("of the draft").isEmpty();
            }
        }
    }

    @Test
    void aConstraintBeyondTheVocabularyFailsItsRequestAlone() {
        for (int trial = 0; trial < 50; trial++) {
            SplittableRandom random = new SplittableRandom(SEED + trial);
            try (Setting setting = new Setting(random, 30)) {
                List<GenerationRequest> requests = new ArrayList<>();
                for (int i = 0; i < 8; i++) {
                    requests.add(setting.request(random, requests));
                }
                SamplingOptions impossible = SamplingOptions.builder()
                        .constraint(TokenConstraint.regex(TokenVocabulary.of(PagedModel.TEXTS), "az"))
                        .build();
                requests.set(3, GenerationRequest.of(2, 1).sampling(impossible));
                List<Generation> generations =
                        requests.stream().map(setting.loop::submit).toList();
                Map<Integer, IreeException> failures = setting.failures(trial, requests, generations);
                assertThat(failures).containsOnlyKeys(3);
                assertThat(failures.get(3))
                        .hasMessageContaining("continues the text of the constraint after 1 tokens")
                        .extracting(IreeException::code)
                        .isEqualTo(StatusCode.FAILED_PRECONDITION);
                setting.end();
            }
        }
    }

    @Test
    void anAnswerEndsWithACompleteTextAndNoTokenToContinue() throws InterruptedException {
        List<byte[]> texts = new ArrayList<>(PagedModel.TEXTS);
        texts.add(new byte[] {'z'}); // beyond the model's logits, as a token that is no candidate
        TokenConstraint constraint = TokenConstraint.regex(TokenVocabulary.of(texts), "xz?");
        for (int trial = 0; trial < 20; trial++) {
            try (Setting setting = new Setting(new SplittableRandom(SEED + trial), 30)) {
                if (setting.shapes.maximumTokens() < 11) {
                    continue; // a generator rejects the request
                }
                GenerationResult result = setting.loop
                        .submit(GenerationRequest.of(9, 1, 2, 3)
                                .sampling(SamplingOptions.builder()
                                        .constraint(constraint)
                                        .build()))
                        .result()
                        .await();
                assertThat(result.tokens()).as("trial %d, seed %d", trial, SEED).containsExactly(7);
                assertThat(result.reason()).isEqualTo(GenerationResult.FinishReason.STOP);
                setting.end();
            }
        }
    }

    @Test
    void logProbabilitiesAreReadWithTheTokens() throws InterruptedException {
        try (Setting setting = new Setting(new SplittableRandom(8), 30)) {
            Generation answer = setting.loop.submit(GenerationRequest.of(4, 1, 2, 3)
                    .sampling(SamplingOptions.builder().logProbabilities(2).build()));
            List<String> read = new ArrayList<>();
            for (int i = 0; answer.next().isPresent(); i++) {
                LogProbabilities each = answer.logProbabilities(i);
                assertThat(each.chosen()).isEqualTo(each.value(0)).isLessThan(0);
                read.add(each.toString());
            }
            GenerationResult result = answer.result().await();
            assertThat(read).hasSize(4);
            assertThat(result.logProbabilities().toString()).isEqualTo(read.toString());
            assertThat(result.logProbabilities().getFirst().token(0))
                    .isEqualTo(result.tokens().getFirst());
            assertThatThrownBy(() -> answer.logProbabilities(4)).isInstanceOf(IndexOutOfBoundsException.class);
            Generation without = setting.loop.submit(GenerationRequest.of(1, 1));
            assertThat(without.result().await().logProbabilities()).isEmpty();
            assertThatThrownBy(() -> without.logProbabilities(0)).isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void tokensOfARequestDoNotDependOnOtherRequests() {
        long preemptions = 0;
        long proposed = 0;
        long accepted = 0;
        long restored = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            SplittableRandom random = new SplittableRandom(SEED + trial);
            try (Setting setting = new Setting(random, random.nextInt(3, 30))) {
                long[] oldest = {-1, 0}; // number and position
                setting.model.before(step -> {
                    Sequence first = step.sequences().getFirst();
                    if (first.generation().number() == oldest[0] && first.computed() < oldest[1]) {
                        setting.model.violations().add("the oldest sequence lost its pages");
                    }
                    if (setting.planner.sequences().getFirst() == first) {
                        oldest[0] = first.generation().number();
                        oldest[1] = first.computed();
                    }
                });
                List<GenerationRequest> requests = new ArrayList<>();
                List<Generation> generations = new ArrayList<>();
                for (int i = random.nextInt(1, 25); i > 0; i--) {
                    requests.add(setting.request(random, requests));
                    generations.add(setting.loop.submit(requests.getLast()));
                }
                assertThat(setting.failures(trial, requests, generations)).isEmpty();
                setting.end();
                preemptions += setting.loop.statistics().preemptions();
                proposed += setting.loop.statistics().proposedTokens();
                accepted += setting.loop.statistics().acceptedTokens();
                restored += setting.loop.statistics().restoredPages();
            }
        }
        assertThat(preemptions).as("trials are short of pages").isGreaterThan(TRIALS / 10);
        assertThat(restored).as("pages moved back from the host").isGreaterThan(TRIALS / 10);
        assertThat(accepted).as("proposed tokens are right and wrong").isBetween(TRIALS / 50L, proposed - TRIALS / 10);
    }

    @Test
    void infinitiesLeftByRejectedProposalsAreNeverRead() {
        int spoiled = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            SplittableRandom random = new SplittableRandom(SEED + trial);
            try (Setting setting = new Setting(random, random.nextInt(3, 30))) {
                setting.model.spoiledByWrongProposals();
                if (setting.draft != null) {
                    setting.draft.makes(FakeDraft.Mistake.TOKEN, 0.5);
                }
                List<GenerationRequest> requests = new ArrayList<>();
                List<Generation> generations = new ArrayList<>();
                for (int i = random.nextInt(1, 15); i > 0; i--) {
                    requests.add(setting.request(random, requests).sampling(SamplingOptions.GREEDY));
                    generations.add(setting.loop.submit(requests.getLast()));
                }
                assertThat(setting.failures(trial, requests, generations)).isEmpty();
                setting.end();
                spoiled += setting.model.spoiled();
            }
        }
        assertThat(spoiled).as("spoiled rows").isGreaterThan(TRIALS / 20);
    }

    @Test
    void aSnapshotShowsEachPageOnce() {
        for (int trial = 0; trial < TRIALS; trial++) {
            SplittableRandom random = new SplittableRandom(SEED + trial);
            try (Setting setting = new Setting(random, random.nextInt(3, 30))) {
                List<GenerationRequest> requests = new ArrayList<>();
                List<Generation> generations = new ArrayList<>();
                for (int i = random.nextInt(1, 15); i > 0; i--) {
                    requests.add(setting.request(random, requests));
                    generations.add(setting.loop.submit(requests.getLast()));
                }
                GeneratorSnapshot during = setting.loop.snapshot().await();
                assertThat(setting.failures(trial, requests, generations)).isEmpty();
                check(setting, during);
                GeneratorSnapshot after = setting.loop.snapshot().await();
                check(setting, after);
                assertThat(after.sequences()).isEmpty();
                setting.end();
                assertThatThrownBy(() -> setting.loop.snapshot().await()).hasMessageContaining("was closed");
            }
        }
    }

    private static void check(Setting setting, GeneratorSnapshot snapshot) {
        assertThat(snapshot.pages()).isEqualTo(setting.pages);
        assertThat(snapshot.pageTokens()).isEqualTo(setting.stride);
        Set<Integer> own = new HashSet<>(snapshot.keptPages());
        Set<Integer> shared = new HashSet<>();
        int count = snapshot.keptPages().size();
        for (GeneratorSnapshot.SequenceState each : snapshot.sequences()) {
            shared.addAll(each.pages().subList(0, each.sharedPages()));
            List<Integer> rest =
                    each.pages().subList(each.sharedPages(), each.pages().size());
            own.addAll(rest);
            count += rest.size();
            assertThat(each.computedTokens())
                    .isLessThanOrEqualTo(each.pages().size() * setting.stride)
                    .isLessThanOrEqualTo(each.promptTokens() + each.generatedTokens());
            assertThat(each.generatedTokens()).isLessThan(each.maximumTokens());
        }
        assertThat(own).hasSize(count).doesNotContain(0).noneMatch(shared::contains);
    }

    @Test
    void aCancelledRequestChangesNoOther() {
        int cancelled = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            SplittableRandom random = new SplittableRandom(SEED + trial);
            try (Setting setting = new Setting(random, random.nextInt(3, 30))) {
                List<GenerationRequest> requests = new ArrayList<>();
                List<Generation> generations = new ArrayList<>();
                AtomicLong left = new AtomicLong(random.nextInt(20));
                int victim = random.nextInt(10);
                List<Generation> known = Collections.synchronizedList(generations);
                setting.model.before(step -> {
                    if (left.get() < 0
                            && step.sequences().stream().anyMatch(each -> each.generation() == known.get(victim))) {
                        setting.model.violations().add("a step after the cancellation");
                    }
                    if (known.size() > victim && left.getAndDecrement() == 0) {
                        known.get(victim).cancel();
                    }
                });
                for (int i = 0; i < 10; i++) {
                    requests.add(setting.request(random, requests));
                    known.add(setting.loop.submit(requests.getLast()));
                }
                Map<Integer, IreeException> failures = setting.failures(trial, requests, generations);
                assertThat(failures.keySet()).isSubsetOf(victim);
                assertThat(failures.values())
                        .allSatisfy(each -> assertThat(each.code()).isEqualTo(StatusCode.CANCELLED));
                cancelled += failures.size();
                setting.end();
            }
        }
        assertThat(cancelled).as("cancelled requests").isGreaterThan(TRIALS / 4);
    }

    @Test
    void aLateRequestFailsWithTheNumberOfItsTokens() {
        AtomicLong now = new AtomicLong();
        SplittableRandom random = new SplittableRandom(1);
        try (Setting setting = new Setting(random, 30, true, now::get)) {
            setting.model.before(_ -> now.addAndGet(Duration.ofSeconds(1).toNanos()));
            Generation late = setting.loop.submit(GenerationRequest.of(setting.shapes.maximumTokens() - 1, 1, 2)
                    .timeout(Duration.ofMillis(2500)));
            assertThatThrownBy(() -> late.result().await())
                    .isInstanceOf(CallTimeoutException.class)
                    .hasMessageContaining("has 3 of at most")
                    .hasMessageContaining("after 2500 ms");
            assertThat(late.timeToFirstToken()).contains(Duration.ofSeconds(1));
            assertThat(late.timePerToken()).contains(Duration.ofSeconds(1));
            setting.end();
        }
    }

    @Test
    void timeBeforeTheSubmissionIsPartOfTheDeadline() {
        AtomicLong now = new AtomicLong(Long.MAX_VALUE); // overflows on the way
        try (Setting setting = new Setting(new SplittableRandom(1), 30, true, now::get)) {
            setting.model.before(_ -> now.addAndGet(Duration.ofSeconds(1).toNanos()));
            GenerationRequest request = GenerationRequest.of(setting.shapes.maximumTokens() - 1, 1, 2)
                    .deadline(Deadline.after(Duration.ofMillis(2500), now::get));
            now.addAndGet(Duration.ofSeconds(1).toNanos());
            assertThatThrownBy(() -> setting.loop.submit(request).result().await())
                    .isInstanceOf(CallTimeoutException.class)
                    .hasMessageContaining("has 2 of at most")
                    .hasMessageContaining("after 2500 ms");
            assertThatThrownBy(() -> setting.loop.submit(request).result().await())
                    .isInstanceOf(CallTimeoutException.class)
                    .hasMessageContaining("has 0 of at most");
            setting.end();
        }
    }

    @Test
    void aFailedStepFailsItsSequencesOnly() {
        for (int trial = 0; trial < TRIALS; trial++) {
            SplittableRandom random = new SplittableRandom(SEED + trial);
            try (Setting setting = new Setting(random, random.nextInt(3, 30))) {
                AtomicLong left = new AtomicLong(random.nextInt(20));
                Set<Integer> hit = ConcurrentHashMap.newKeySet();
                setting.model.before(step -> {
                    if (left.getAndDecrement() == 0) {
                        step.sequences()
                                .forEach(each -> hit.add((int) each.generation().number()));
                        setting.model.spoil(step);
                        throw IreeException.of(StatusCode.INTERNAL, "kernel failed");
                    }
                });
                List<GenerationRequest> requests = new ArrayList<>();
                List<Generation> generations = new ArrayList<>();
                for (int i = 0; i < 10; i++) {
                    requests.add(setting.request(random, requests));
                    generations.add(setting.loop.submit(requests.getLast()));
                }
                Map<Integer, IreeException> failures = setting.failures(trial, requests, generations);
                assertThat(failures.keySet())
                        .as("trial %d, seed %d", trial, SEED)
                        .isEqualTo(hit);
                assertThat(failures.values())
                        .allSatisfy(each -> assertThat(each).hasMessageContaining("kernel failed"));
                setting.end();
            }
        }
    }

    @Test
    void aTimeoutBeyondTheClockIsNone() {
        try (Setting setting = new Setting(new SplittableRandom(3), 30)) {
            Generation generation =
                    setting.loop.submit(GenerationRequest.of(1, 1).timeout(Duration.ofSeconds(Long.MAX_VALUE)));
            assertThat(generation.result().await().tokens()).hasSize(1);
            setting.end();
        }
    }

    @Test
    void closingEndsEveryGeneration() {
        for (int trial = 0; trial < 50; trial++) {
            SplittableRandom random = new SplittableRandom(trial);
            Setting setting = new Setting(random, 30);
            List<Generation> generations = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                generations.add(setting.loop.submit(setting.request(random, List.of())));
            }
            setting.end();
            generations.forEach(each -> assertThat(each.result()).isDone());
            assertThatThrownBy(() -> setting.loop.submit(GenerationRequest.of(1, 1)))
                    .hasMessageContaining("generator of 'fake' is closed");
        }
    }
}
