package io.github.iree4j.sample;

import java.util.List;

/**
 * Strokes of a pen, turned into the 8x8 picture known to the model.
 *
 * <p>The model was trained on the UCI handwritten digits, made like this: the bitmap of a digit is fitted into 32x32
 * dots, cut into blocks of 4x4, and each of the 64 pixels is the number of inked dots in a block. The same is done
 * here, from the strokes rather than from a bitmap, so the size of the drawing and the width of the pen on the screen
 * make no difference.
 *
 * @param strokes the lines drawn between putting the pen down and lifting the pen, each a list of points; coordinates
 *     in any unit, x to the right, y down
 */
record Drawing(List<List<Point>> strokes) {

    /** Most points of a drawing; a finger on a screen makes some hundreds. */
    static final int MAX_POINTS = 10_000;

    /** Largest coordinate of a point, either way. */
    static final double MAX_COORDINATE = 1e6;

    private static final int DOTS = 32;
    private static final int BLOCK = 4;
    private static final int PIXELS = DOTS / BLOCK;

    // Measured on the data set: digits fill all 32 rows, and hardly any is wider than 26 columns. A pen of this width
    // inks
    // 312 of the 1024 dots for the average synthetic digit of DrawingTest, and 312.6 is the average of the data set.
    private static final double PEN = 5.4;
    private static final double WIDEST = 26;

    /** A point of a stroke. */
    record Point(double x, double y) {}

    Drawing {
        strokes = strokes.stream().map(List::copyOf).toList();
    }

    /** Number of points in all strokes. */
    int pointCount() {
        return strokes.stream().mapToInt(List::size).sum();
    }

    /** The picture: 64 intensities from 0 to 16, row by row from the top left; all zero when nothing is drawn. */
    float[] pixels() {
        float[] pixels = new float[PIXELS * PIXELS];
        if (pointCount() == 0) {
            return pixels;
        }
        boolean[] dots = dots();
        for (int y = 0; y < DOTS; y++) {
            for (int x = 0; x < DOTS; x++) {
                if (dots[y * DOTS + x]) {
                    pixels[y / BLOCK * PIXELS + x / BLOCK]++;
                }
            }
        }
        return pixels;
    }

    /** The strokes fitted into 32x32 dots: as high as possible, centred. */
    private boolean[] dots() {
        double left = Double.POSITIVE_INFINITY;
        double right = Double.NEGATIVE_INFINITY;
        double top = Double.POSITIVE_INFINITY;
        double bottom = Double.NEGATIVE_INFINITY;
        for (List<Point> stroke : strokes) {
            for (Point point : stroke) {
                left = Math.min(left, point.x);
                right = Math.max(right, point.x);
                top = Math.min(top, point.y);
                bottom = Math.max(bottom, point.y);
            }
        }
        // A wide digit is squeezed, as the data set's are, but a drawing near a dash stays flat, and a dot stays a dot.
        double scaleY = (DOTS - PEN) / Math.max(bottom - top, Double.MIN_NORMAL);
        double scaleX = Math.min(scaleY, (WIDEST - PEN) / Math.max(right - left, Double.MIN_NORMAL));
        scaleY = Math.min(scaleY, 2 * scaleX);
        if (Math.max(right - left, bottom - top) == 0) {
            scaleX = 0;
            scaleY = 0;
        }
        double centreX = (left + right) / 2;
        double centreY = (top + bottom) / 2;
        boolean[] dots = new boolean[DOTS * DOTS];
        for (List<Point> stroke : strokes) {
            for (int i = 0; i < stroke.size(); i++) {
                Point from = stroke.get(Math.max(0, i - 1));
                Point to = stroke.get(i);
                ink(
                        dots,
                        (from.x - centreX) * scaleX + DOTS / 2.0,
                        (from.y - centreY) * scaleY + DOTS / 2.0,
                        (to.x - centreX) * scaleX + DOTS / 2.0,
                        (to.y - centreY) * scaleY + DOTS / 2.0);
            }
        }
        return dots;
    }

    /** Inks every dot with the centre within half a pen's width of the line. */
    private static void ink(boolean[] dots, double x0, double y0, double x1, double y1) {
        double dx = x1 - x0;
        double dy = y1 - y0;
        double lengthSquared = dx * dx + dy * dy;
        int fromX = Math.max(0, (int) Math.floor(Math.min(x0, x1) - PEN));
        int toX = Math.min(DOTS - 1, (int) Math.ceil(Math.max(x0, x1) + PEN));
        int fromY = Math.max(0, (int) Math.floor(Math.min(y0, y1) - PEN));
        int toY = Math.min(DOTS - 1, (int) Math.ceil(Math.max(y0, y1) + PEN));
        for (int y = fromY; y <= toY; y++) {
            for (int x = fromX; x <= toX; x++) {
                double px = x + 0.5 - x0;
                double py = y + 0.5 - y0;
                double along = lengthSquared == 0 ? 0 : Math.clamp((px * dx + py * dy) / lengthSquared, 0, 1);
                double offX = px - along * dx;
                double offY = py - along * dy;
                if (offX * offX + offY * offY <= PEN * PEN / 4) {
                    dots[y * DOTS + x] = true;
                }
            }
        }
    }
}
