package io.github.iree4j.generation;

import io.github.iree4j.Program;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A program that proposes the tokens of another, checked against the other.
 *
 * @param model the program's functions, of which prefill functions have positions
 * @param shapes the sizes of its steps
 * @param pages pages of its cache, page 0 included
 * @param vocabulary number of tokens of the other program; 0 if unknown
 */
record DraftModel(ModelInterface model, StepShapes shapes, int pages, int vocabulary) {
    /**
     * Checks the draft of options.
     *
     * @param target the program whose tokens are proposed
     * @param config the configuration of this program
     * @return the draft; null for options without a draft
     * @throws IreeException INVALID_ARGUMENT for a draft that does not fit
     */
    static @Nullable DraftModel of(GeneratorOptions options, ModelInterface target, ModelConfig config) {
        Program program = options.draft();
        if (program == null) {
            return null;
        }
        ModelConfig own =
                ModelConfig.of(options.draftConfigName(), options.draftConfig()).withPages(config.pages());
        ModelInterface model = ModelInterface.of(program, own);
        if (!model.prefillPosition()) {
            throw invalid("the draft '%s' has prefill functions without start_pos; export with has_prefill_position"
                    .formatted(model.name()));
        }
        if (own.stride() != config.stride()) {
            throw invalid(
                    "a page of the draft '%s' has %d tokens, and a page of '%s' has %d; set the configuration of both (without a configuration a page has 32 tokens), or export both with the same block_seq_stride"
                            .formatted(model.name(), own.stride(), target.name(), config.stride()));
        }
        if (model.vocabulary() != target.vocabulary() && model.vocabulary() > 0 && target.vocabulary() > 0) {
            throw invalid("the draft '%s' has %d tokens, and '%s' has %d; use a draft with the same tokenizer"
                    .formatted(model.name(), model.vocabulary(), target.name(), target.vocabulary()));
        }
        StepShapes shapes = StepShapes.of(own, options.chunkTokens());
        return new DraftModel(model, shapes, config.pages(), target.vocabulary());
    }

    private static IreeException invalid(String why) {
        return IreeException.of(StatusCode.INVALID_ARGUMENT, why);
    }

    /** Returns the draft with a cache, which stays the caller's. */
    Draft on(CacheMemory cache, LongSupplier nanoTime) {
        return new Draft(
                model.name(),
                model.prefills(),
                model.decodes(),
                shapes,
                vocabulary,
                StepRunner.on(model, cache),
                cache::scrub,
                pages,
                nanoTime);
    }
}
