package io.github.iree4j.generation;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Measures whether a page of the program has as many tokens as the configuration says. The number is in the program's code
 * only. With another number, tokens of a sequence are written to pages that other sequences use.
 *
 * <p>A sequence with a full page and two tokens more shares the full page with a sequence that writes another token, and
 * computes its tokens again after a third sequence has used its second page. The logits stay equal bit by bit only if the
 * page holds exactly the tokens before. Uses pages from page 1 on, which mean nothing afterwards.
 */
final class PageProbe {
    private static final long SEED = 0x70616765; // any; the same for every run
    private static final int FEW_COLUMNS = 4; // of programs whose steps read all columns

    private final ModelInterface model;
    private final StepRunner runner;
    private final int stride;
    private final int columns;
    private final int vocabulary;

    private PageProbe(ModelInterface model, StepShapes shapes, StepRunner runner, int columns) {
        this.model = model;
        this.runner = runner;
        this.stride = shapes.stride();
        this.columns = columns;
        this.vocabulary = model.vocabulary() == 0 ? 2 : model.vocabulary();
    }

    /**
     * Refuses a configuration whose pages are not the program's.
     *
     * @param pages pages of the cache, page 0 included
     * @return whether the cache has enough pages to know
     * @throws IreeException INVALID_ARGUMENT for pages of another size; any failure of a step
     */
    static boolean check(ModelInterface model, StepShapes shapes, StepRunner runner, int pages) {
        int most = model.prefillPosition() ? shapes.maximumColumns() : Math.min(FEW_COLUMNS, shapes.maximumColumns());
        int columns = Math.min(most, pages / 2);
        if (columns < StepShapes.MINIMUM_COLUMNS) {
            return false;
        }
        if (!new PageProbe(model, shapes, runner, columns).keepsItsTokens()) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "a page of '%s' does not have %d tokens: tokens of a sequence change with its neighbours; set block_seq_stride of the configuration to the number that the program was exported with"
                            .formatted(model.name(), shapes.stride()));
        }
        return true;
    }

    private boolean keepsItsTokens() {
        int[] tokens =
                new SplittableRandom(SEED).ints(stride + 2, 0, vocabulary).toArray();
        int[] others =
                Arrays.stream(tokens).map(each -> (each + 1) % vocabulary).toArray();
        boolean hasTwo = stride + 1 < columns * stride;
        prefill(tokens, 1, 2);
        byte[] first = decode(tokens, stride, 1, 2);
        byte[] second = hasTwo ? decode(tokens, stride + 1, 1, 2) : first;
        decode(others, stride, 1, columns + 1);
        boolean kept = !hasTwo || Arrays.equals(second, decode(tokens, stride + 1, 1, 2));
        prefill(others, 2, columns + 1);
        kept &= Arrays.equals(first, decode(tokens, stride, 1, 2));
        return kept && (!hasTwo || Arrays.equals(second, decode(tokens, stride + 1, 1, 2)));
    }

    private void prefill(int[] tokens, int firstPage, int furtherPages) {
        int wide = model.prefillPosition() ? stride : columns * stride;
        run(new Step(model.prefills().getFirst(), wide, columns), tokens, 0, stride, firstPage, furtherPages);
    }

    private byte[] decode(int[] tokens, int at, int firstPage, int furtherPages) {
        return run(new Step(model.decodes().getFirst(), 1, columns), tokens, at, 1, firstPage, furtherPages)
                .evidence(0, 0);
    }

    private Logits run(Step step, int[] tokens, int from, int count, int firstPage, int furtherPages) {
        step.set(0, tokens, from, count);
        step.setPage(0, 0, firstPage);
        for (int i = 1; i < columns; i++) {
            step.setPage(0, i, furtherPages + i - 1);
        }
        Logits logits = new Logits();
        runner.run(step, logits);
        return logits;
    }
}
