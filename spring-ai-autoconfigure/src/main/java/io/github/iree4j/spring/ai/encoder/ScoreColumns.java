package io.github.iree4j.spring.ai.encoder;

import io.github.iree4j.ProgramFunction;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Arrays;
import java.util.List;

/**
 * Results with numbers for each text: a row of columns, or a single number where there is one column.
 *
 * @param count number of columns, at least 1
 * @param task the purpose of the columns
 * @param settings the settings of the program
 */
record ScoreColumns(int count, EncoderTask task, EncoderSettings settings) {

    /**
     * Checks the declaration of a function.
     *
     * @throws IreeException FAILED_PRECONDITION when the declared result has another shape
     */
    void check(ProgramFunction function, EncoderSignature signature) {
        List<Long> shape = signature.result();
        if (shape == null) { // checked when the result is available
            return;
        }
        boolean fits =
                shape.size() == 2 ? shape.getLast() < 0 || shape.getLast() == count : shape.size() == 1 && count == 1;
        if (!fits) {
            throw task.cannot(
                    function,
                    "result %d is %s, expected %s; %s"
                            .formatted(
                                    settings.result(),
                                    function.results().get(settings.result()).type(),
                                    wanted(),
                                    remedy()));
        }
    }

    private String wanted() {
        return count == 1
                ? "a number for each text, tensor<?xf32> or tensor<?x1xf32>"
                : "%d numbers for each text, tensor<?x%dxf32>".formatted(count, count);
    }

    private String remedy() {
        return task == EncoderTask.CLASSIFIER
                ? "%s names each column, and %s selects the result"
                        .formatted(task.property("labels"), task.property("result"))
                : "%s selects the result".formatted(task.property("result"));
    }

    /**
     * Returns the numbers of a call, row by row.
     *
     * @throws IreeException INTERNAL when the result has another shape, or contains NaN or infinity
     */
    float[] read(TextEncoder.Encoded encoded) {
        long[] shape = encoded.result().shape().dimensions();
        int rows = encoded.batch().rows();
        boolean fits = shape.length == 2
                ? shape[0] == rows && shape[1] == count
                : shape.length == 1 && count == 1 && shape[0] == rows;
        if (!fits) {
            throw IreeException.of(
                    StatusCode.INTERNAL,
                    "'%s' returned a tensor of shape %s for %dx%d tokens, expected %s; %s"
                            .formatted(
                                    settings.module(),
                                    Arrays.toString(shape),
                                    rows,
                                    encoded.batch().length(),
                                    wanted(),
                                    remedy()));
        }
        float[] values = encoded.result().toFloatArray();
        for (float value : values) {
            if (!Float.isFinite(value)) {
                throw IreeException.of(
                        StatusCode.INTERNAL,
                        "'%s' returned NaN or infinity for a text; the program may overflow its element type"
                                .formatted(settings.module()));
            }
        }
        return values;
    }
}
