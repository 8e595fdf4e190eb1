package io.github.iree4j.sample;

import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.Programs;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Reads digits: {@code POST /digits} with a picture or with the strokes of a drawing. */
@RestController
@RequestMapping("/digits")
final class DigitsController {

    private static final int PIXELS = 64;
    private static final float BRIGHTEST = 16;

    private final Digits digits;
    private final Programs programs;

    DigitsController(Digits digits, Programs programs) {
        this.digits = digits;
        this.programs = programs;
    }

    /**
     * The input; exactly one of the two.
     *
     * @param pixels 64 intensities from 0 to 16, row by row from the top left
     * @param strokes lists of points, each {@code [x, y]} in any unit, y down
     */
    record Question(double @Nullable [] pixels, @Nullable List<List<double[]>> strokes) {}

    /**
     * The result.
     *
     * @param digit the most probable digit
     * @param probabilities of the digits 0 to 9
     * @param pixels the picture that was read
     */
    record Answer(int digit, float[] probabilities, float[] pixels) {}

    /**
     * The model in use.
     *
     * @param model the program's name
     * @param function the program's function
     * @param device the device running the program
     */
    record Reader(String model, String function, String device) {}

    @PostMapping
    Answer read(@RequestBody Question question) {
        float[] pixels = pixels(question);
        float[] probabilities = digits.classify(new float[][] {pixels})[0];
        int best = 0;
        for (int digit = 1; digit < probabilities.length; digit++) {
            if (probabilities[digit] > probabilities[best]) {
                best = digit;
            }
        }
        return new Answer(best, probabilities, pixels);
    }

    @GetMapping
    Reader reader() {
        LoadedProgram program = programs.find("digits").orElseThrow();
        return new Reader(
                program.source().name(),
                "digits.classify",
                program.program().devices().getFirst().id());
    }

    private static float[] pixels(Question question) {
        if ((question.pixels == null) == (question.strokes == null)) {
            throw new InvalidFieldException(
                    "pixels",
                    question.pixels == null ? "is required, or 'strokes'" : "is not allowed beside 'strokes'");
        }
        return question.pixels != null
                ? picture(question.pixels)
                : drawing(question.strokes).pixels();
    }

    private static float[] picture(double[] intensities) {
        if (intensities.length != PIXELS) {
            throw new InvalidFieldException(
                    "pixels", "must hold %d numbers, not %d".formatted(PIXELS, intensities.length));
        }
        float[] pixels = new float[PIXELS];
        for (int i = 0; i < PIXELS; i++) {
            if (!(intensities[i] >= 0 && intensities[i] <= BRIGHTEST)) {
                throw new InvalidFieldException(
                        "pixels[%d]".formatted(i), "must be between 0 and 16, not %s".formatted(intensities[i]));
            }
            pixels[i] = (float) intensities[i];
        }
        return pixels;
    }

    private static Drawing drawing(List<List<double[]>> lists) {
        List<List<Drawing.Point>> strokes = new ArrayList<>();
        int points = 0;
        for (int i = 0; i < lists.size(); i++) {
            List<Drawing.Point> stroke = new ArrayList<>();
            List<double[]> list = lists.get(i);
            if (list == null) {
                throw new InvalidFieldException("strokes[%d]".formatted(i), "must be a list of points, not null");
            }
            for (int j = 0; j < list.size(); j++) {
                stroke.add(point("strokes[%d][%d]".formatted(i, j), list.get(j)));
            }
            points += stroke.size();
            strokes.add(stroke);
        }
        if (points > Drawing.MAX_POINTS) {
            throw new InvalidFieldException(
                    "strokes", "must hold at most %d points, not %d".formatted(Drawing.MAX_POINTS, points));
        }
        return new Drawing(strokes);
    }

    private static Drawing.Point point(String field, double @Nullable [] xy) {
        if (xy == null || xy.length != 2) {
            throw new InvalidFieldException(field, "must be a point [x, y]");
        }
        if (!(Math.abs(xy[0]) <= Drawing.MAX_COORDINATE && Math.abs(xy[1]) <= Drawing.MAX_COORDINATE)) {
            throw new InvalidFieldException(
                    field,
                    "must have coordinates within %.0f, not [%s, %s]".formatted(Drawing.MAX_COORDINATE, xy[0], xy[1]));
        }
        return new Drawing.Point(xy[0], xy[1]);
    }
}
