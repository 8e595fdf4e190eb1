package io.github.iree4j.sample;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPInputStream;

/**
 * The UCI handwritten digits (E. Alpaydin, C. Kaynak, 1998; CC BY 4.0): 1797 pictures of 8x8 pixels from 0 to 16, with
 * the digit of each. See NOTICE.
 *
 * @param training the pictures behind the weights
 * @param heldOut every fifth picture, never seen in training
 */
record HandwrittenDigits(List<Sample> training, List<Sample> heldOut) {

    /** A picture, row by row, with its digit. */
    record Sample(float[] pixels, int digit) {}

    static HandwrittenDigits load() {
        List<Sample> training = new ArrayList<>();
        List<Sample> heldOut = new ArrayList<>();
        try (InputStream in = HandwrittenDigits.class.getResourceAsStream("/digits.csv.gz");
                BufferedReader lines =
                        new BufferedReader(new InputStreamReader(new GZIPInputStream(in), StandardCharsets.US_ASCII))) {
            int row = 0;
            for (String line = lines.readLine(); line != null; line = lines.readLine(), row++) {
                String[] cells = line.split(",");
                float[] pixels = new float[64];
                for (int i = 0; i < pixels.length; i++) {
                    pixels[i] = Float.parseFloat(cells[i]);
                }
                Sample sample = new Sample(pixels, Integer.parseInt(cells[64]));
                (row % 5 == 4 ? heldOut : training).add(sample);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new HandwrittenDigits(List.copyOf(training), List.copyOf(heldOut));
    }
}
