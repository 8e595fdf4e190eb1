package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.generation.PagedModel.Dependence;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BiPredicate;
import java.util.function.LongPredicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The probe, and generation restricted to measured equality. */
@Tag("long")
@Timeout(1200)
class RowProbeTest {
    private static final int STRIDE = 4;
    private static final int PAGES = 40;
    private static final StepShapes SHAPES = new StepShapes(STRIDE, 8, 2);
    private static final List<Entry> PREFILLS =
            List.of(new Entry("prefill_bs1", true, 1), new Entry("prefill_bs4", true, 4));
    private static final List<Entry> DECODES = List.of(
            new Entry("decode_bs1", false, 1), new Entry("decode_bs2", false, 2), new Entry("decode_bs4", false, 4));

    private static Measured measure(Dependence dependence) {
        PagedModel model = new PagedModel(SHAPES, true, PAGES).depends(dependence);
        return new RowProbe(PREFILLS, DECODES, true, PagedModel.VOCABULARY, SHAPES, model, PAGES, 3, false).measure();
    }

    @Test
    void everythingIsUsedOfAProgramWithIndependentRows() {
        Measured measured = measure(Dependence.NOTHING);
        assertThat(measured.prefills()).isEqualTo(PREFILLS);
        assertThat(measured.decodes()).isEqualTo(DECODES);
        assertThat(measured.rows()).isTrue();
        assertThat(measured.shapes()).isTrue();
        assertThat(measured.alike()).isTrue();
        assertThat(measured.verifiable()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(names = {"KIND", "KIND_OF_LOGITS"})
    void decodeFunctionsWithOtherBitsThanPrefillFunctionsComputeAllGeneratedTokens(Dependence dependence) {
        Measured measured = measure(dependence);
        assertThat(measured.rows()).isTrue();
        assertThat(measured.shapes()).isTrue();
        assertThat(measured.alike()).isFalse();
        assertThat(measured.verifiable()).isFalse();
    }

    @Test
    void functionsWithOtherBitsAreNotUsed() {
        Measured measured = measure(Dependence.BATCH);
        assertThat(measured.prefills()).containsExactly(PREFILLS.getLast());
        assertThat(measured.decodes()).containsExactly(DECODES.getLast());
        assertThat(measured.rows()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(names = {"PLACE", "NEIGHBOURS", "OTHER_STARTS", "OTHER_LENGTHS"})
    void stepsHaveASingleSequenceIfRowsDependOnPlacesOrNeighbours(Dependence dependence) {
        Measured measured = measure(dependence);
        assertThat(measured.rows()).isFalse();
        assertThat(measured.prefills()).containsExactly(PREFILLS.getFirst());
        assertThat(measured.decodes()).containsExactly(DECODES.getFirst());
    }

    @ParameterizedTest
    @EnumSource(names = {"COLUMNS", "CHUNK"})
    void stepsHaveASingleShapeIfRowsDependOnShapes(Dependence dependence) {
        Measured measured = measure(dependence);
        assertThat(measured.shapes()).isFalse();
        assertThat(measured.rows()).isTrue();
    }

    /** With a large model, the steps at the start take long. */
    @Test
    void threePromptsTake110StepsAmongThem38Prefills() {
        List<Step> steps = new ArrayList<>();
        PagedModel model = new PagedModel(SHAPES, true, PAGES).before(steps::add);
        new RowProbe(PREFILLS, DECODES, true, PagedModel.VOCABULARY, SHAPES, model, PAGES, 3, false).measure();
        assertThat(steps.size()).isEqualTo(110);
        assertThat(steps.stream().filter(each -> each.entry().prefill()).count())
                .isEqualTo(38);
    }

    /** Dependences that the few rows and shapes measured at the start of a generator do not show. */
    private enum Rare {
        ROW_5_OF_16((step, row) -> row == 5 && step.entry().batch() == 16),
        ROW_1_OF_A_SMALLER_PREFILL((step, row) ->
                row == 1 && step.entry().prefill() && step.entry().batch() == 4),
        ROW_2_OF_A_SMALLER_DECODE((step, row) ->
                row == 2 && !step.entry().prefill() && step.entry().batch() == 4),
        ROW_0_OF_4_BESIDE_OTHERS(
                (step, row) -> row == 0 && step.entry().batch() == 4 && others(step, row, length -> length > 1) > 0),
        A_SINGLE_NEIGHBOUR((step, row) -> others(step, row, length -> length > 1) == 1),
        NEIGHBOURS_OF_THE_SAME_LENGTH((step, row) -> step.entry().batch() == 4
                && step.lengths()[row] > 1
                && others(step, row, length -> length == step.lengths()[row]) == 3),
        NEIGHBOURS_AS_LONG_AS_POSSIBLE((step, row) -> !step.entry().prefill()
                && step.entry().batch() > 1
                && others(step, row, length -> length == step.columns() * (long) STRIDE)
                        == step.entry().batch() - 1),
        SIX_COLUMNS((step, _) -> step.columns() == 6),
        SEVEN_COLUMNS_OF_A_SMALLER_DECODE((step, _) -> step.columns() == 7
                && step.entry().batch() == 4
                && !step.entry().prefill()),
        A_SECOND_PIECE_OF_TWO_PAGES(
                (step, row) -> step.starts()[row] == 2 * STRIDE && step.tokensPerRow() == 2 * STRIDE),
        A_SECOND_WHOLE_PIECE_BESIDE_OTHERS((step, row) -> step.starts()[row] >= 4 * STRIDE
                && step.entry().prefill()
                && others(step, row, length -> length > 1) > 0);

        private final BiPredicate<Step, Integer> where;

        Rare(BiPredicate<Step, Integer> where) {
            this.where = where;
        }

        private static long others(Step step, int row, LongPredicate length) {
            return IntStream.range(0, step.entry().batch())
                    .filter(each -> each != row && length.test(step.lengths()[each]))
                    .count();
        }

        /** Measures four functions for 4 and 16 sequences, and two for one. */
        static RowProbe measured(BiPredicate<Step, Integer> where, boolean thorough) {
            StepShapes shapes = new StepShapes(STRIDE, 8, 4);
            int pages = 16 * 8 + 1;
            PagedModel model =
                    new PagedModel(shapes, true, pages).depends((step, row) -> where.test(step, row) ? 1 : 0);
            List<Entry> prefills = new ArrayList<>();
            List<Entry> decodes = new ArrayList<>();
            for (int batch : new int[] {1, 4, 16}) {
                prefills.add(new Entry("prefill_bs" + batch, true, batch));
                decodes.add(new Entry("decode_bs" + batch, false, batch));
            }
            RowProbe probe =
                    new RowProbe(prefills, decodes, true, PagedModel.VOCABULARY, shapes, model, pages, 3, thorough);
            Measured measured = probe.measure();
            if (probe.findings().isEmpty()) {
                assertThat(measured).isEqualTo(new Measured(prefills, decodes, true, true, true, true));
            }
            assertThat(model.violations()).allMatch(each -> each.contains("reads nothing")); // neighbours
            return probe;
        }
    }

    @ParameterizedTest
    @EnumSource
    void aThoroughProbeFindsDependencesOfASingleRowNeighbourOrShape(Rare dependence) {
        assertThat(Rare.measured(dependence.where, false).findings())
                .as("in few steps")
                .isEmpty();
        assertThat(Rare.measured(dependence.where, true).findings()).isNotEmpty();
    }

    @Test
    void aThoroughProbeFindsNothingInAProgramWithIndependentRows() {
        assertThat(Rare.measured((_, _) -> false, true).findings()).isEmpty();
    }

    @Test
    void manyDifferencesAreCountedAndThreeOfEachComparisonShown() {
        List<String> findings = Rare.measured((_, row) -> row > 0, true).findings();
        assertThat(findings)
                .filteredOn(each -> each.startsWith("beside other rows: "))
                .hasSize(4)
                .last()
                .asString()
                .matches("beside other rows: [0-9]{3} differences in all");
        assertThat(findings).hasSizeLessThan(20);
    }

    @Test
    void aCacheTooSmallForAllRowsLeavesASingleSequence() {
        PagedModel model = new PagedModel(SHAPES, true, PAGES).depends(Dependence.NEIGHBOURS);
        RowProbe probe = new RowProbe(PREFILLS, DECODES, true, PagedModel.VOCABULARY, SHAPES, model, 4, 3, false);
        Measured measured = probe.measure();
        assertThat(measured.rows()).as("unknown is not equal").isFalse();
        assertThat(probe.findings()).anyMatch(each -> each.contains("a cache of 4 pages has too few for 4 rows"));
    }

    @Test
    void piecesAreMeasuredInASmallCache() {
        PagedModel model = new PagedModel(SHAPES, true, PAGES).depends(Dependence.CHUNK);
        RowProbe probe = new RowProbe(PREFILLS, DECODES, true, PagedModel.VOCABULARY, SHAPES, model, 6, 3, false);
        assertThat(probe.measure().shapes()).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void tokensAreTheTokensOfTheRequestAloneWhateverRowsDependOn(Dependence dependence) {
        int trials = Effort.rounds(160, 2_000);
        long seed = Effort.seed(RowProbeTest.class, trials + " mixes", 47);
        Measured measured = measure(dependence);
        for (int trial = 0; trial < trials; trial++) {
            SplittableRandom random = new SplittableRandom(seed + trial);
            List<GenerationRequest> requests = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                int length = random.nextInt(1, SHAPES.maximumTokens());
                requests.add(GenerationRequest.of(
                        random.nextInt(1, SHAPES.maximumTokens() - length + 2),
                        random.ints(length, 0, 2)
                                .map(each -> length > 9 ? each / 2 : each)
                                .toArray()));
            }
            List<List<Integer>> alone = new ArrayList<>();
            for (GenerationRequest each : requests) {
                alone.addAll(tokens(measured, dependence, List.of(each), PAGES));
            }
            assertThat(tokens(measured, dependence, requests, random.nextInt(9, PAGES)))
                    .as("%s, trial %d, seed %d", dependence, trial, seed)
                    .isEqualTo(alone);
        }
    }

    private static List<List<Integer>> tokens(
            Measured measured, Dependence dependence, List<GenerationRequest> requests, int pages) {
        PagedModel model = new PagedModel(SHAPES, true, PAGES).depends(dependence);
        StepPlanner planner = new StepPlanner(
                true, SHAPES, measured, pages, new Admission(), new EveryProposal(3), new PromptLookup(), 1, 0, model);
        List<List<Integer>> tokens = new ArrayList<>();
        try (GenerationLoop loop =
                new GenerationLoop("fake", planner, model, model::scrub, 100, 100, System::nanoTime, () -> {})) {
            List<Generation> generations = requests.stream().map(loop::submit).toList();
            generations.forEach(each -> tokens.add(each.result().await().tokens()));
        }
        assertThat(model.violations()).isEmpty();
        return tokens;
    }
}
