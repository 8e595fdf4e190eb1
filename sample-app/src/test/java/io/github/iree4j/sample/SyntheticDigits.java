package io.github.iree4j.sample;

import io.github.iree4j.sample.Drawing.Point;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Digits as drawn by a pen: lines and arcs, in several styles, with jitter. */
final class SyntheticDigits {

    private SyntheticDigits() {}

    /** The usual ways to draw a digit, in a box of about 100 by 160. */
    static List<Drawing> of(int digit) {
        return switch (digit) {
            case 0 -> List.of(drawing(arc(50, 80, 45, 78, -90, 270)), drawing(arc(50, 80, 36, 80, -60, 310)));
            case 1 ->
                List.of(
                        drawing(line(20, 35, 52, 2, 52, 160)),
                        drawing(line(50, 0, 48, 160)),
                        drawing(line(60, 0, 40, 160)));
            case 2 ->
                List.of(
                        drawing(join(arc(50, 42, 42, 42, -170, 40), line(80, 72, 8, 158, 98, 158))),
                        drawing(join(arc(48, 40, 38, 40, -160, 55), line(68, 74, 5, 155), line(5, 155, 95, 150))));
            case 3 ->
                List.of(
                        drawing(join(arc(48, 40, 40, 40, -150, 90), arc(48, 120, 44, 40, -90, 150))),
                        drawing(join(arc(45, 42, 38, 38, -140, 80), arc(45, 118, 42, 42, -85, 140))));
            case 4 ->
                List.of(
                        drawing(line(60, 0, 5, 100, 98, 100), line(72, 55, 70, 160)),
                        drawing(line(20, 5, 12, 85, 90, 82), line(75, 30, 68, 160)));
            case 5 ->
                List.of(
                        drawing(join(line(88, 2, 20, 2, 16, 68), arc(48, 108, 42, 48, -140, 140))),
                        drawing(join(line(22, 5, 20, 70), arc(45, 110, 40, 46, -125, 140)), line(22, 5, 90, 3)));
            case 6 ->
                List.of(
                        drawing(join(line(70, 0, 35, 45), arc(50, 115, 40, 44, 200, 560))),
                        drawing(join(arc(95, 100, 85, 100, -100, -185), arc(50, 115, 40, 42, 180, -180))));
            case 7 ->
                List.of(drawing(line(6, 3, 94, 3, 36, 160)), drawing(line(6, 6, 92, 3, 40, 160), line(25, 80, 88, 76)));
            case 8 ->
                List.of(
                        drawing(join(arc(50, 40, 36, 38, 90, 450), arc(50, 120, 42, 40, -90, 270))),
                        drawing(arc(50, 40, 33, 38, -90, 270), arc(50, 118, 38, 40, -90, 270)));
            case 9 ->
                List.of(
                        drawing(join(arc(48, 45, 38, 42, 0, -360), line(86, 45, 80, 160))),
                        drawing(join(arc(48, 45, 40, 44, -20, -380), arc(45, 60, 42, 98, -10, 100))));
            default -> throw new IllegalArgumentException("not a digit: " + digit);
        };
    }

    /** The drawing shifted, scaled, slanted, rotated and jittered. */
    static Drawing byHand(Drawing drawing, Random random) {
        double scale = 0.3 + 3 * random.nextDouble();
        double stretch = 0.85 + 0.35 * random.nextDouble();
        double slant = -0.05 - 0.2 * random.nextDouble() + 0.15;
        double angle = (random.nextDouble() - 0.5) * 0.16;
        double x0 = 400 * random.nextDouble();
        double y0 = 400 * random.nextDouble();
        List<List<Point>> strokes = new ArrayList<>();
        for (List<Point> stroke : drawing.strokes()) {
            List<Point> shaken = new ArrayList<>();
            for (Point point : stroke) {
                double x = stretch * point.x() + slant * point.y() + random.nextGaussian() * 1.2;
                double y = point.y() + random.nextGaussian() * 1.2;
                shaken.add(new Point(
                        x0 + scale * (x * Math.cos(angle) - y * Math.sin(angle)),
                        y0 + scale * (x * Math.sin(angle) + y * Math.cos(angle))));
            }
            strokes.add(shaken);
        }
        return new Drawing(strokes);
    }

    @SafeVarargs
    private static Drawing drawing(List<Point>... strokes) {
        List<List<Point>> all = new ArrayList<>();
        for (List<Point> stroke : strokes) {
            all.add(stroke);
        }
        return new Drawing(all);
    }

    @SafeVarargs
    private static List<Point> join(List<Point>... parts) {
        List<Point> points = new ArrayList<>();
        for (List<Point> part : parts) {
            points.addAll(part);
        }
        return points;
    }

    /** A line through the given points, with points in between like a moving pen's. */
    private static List<Point> line(double... xy) {
        List<Point> points = new ArrayList<>();
        for (int i = 0; i + 3 < xy.length; i += 2) {
            for (int step = 0; step <= 8; step++) {
                double t = step / 8.0;
                points.add(new Point(xy[i] + t * (xy[i + 2] - xy[i]), xy[i + 1] + t * (xy[i + 3] - xy[i + 1])));
            }
        }
        return points;
    }

    /** Part of an ellipse; angles in degrees, 0 to the right, growing clockwise on a screen. */
    private static List<Point> arc(double cx, double cy, double rx, double ry, double from, double to) {
        List<Point> points = new ArrayList<>();
        int steps = (int) Math.ceil(Math.abs(to - from) / 12);
        for (int step = 0; step <= steps; step++) {
            double angle = Math.toRadians(from + (to - from) * step / steps);
            points.add(new Point(cx + rx * Math.cos(angle), cy + ry * Math.sin(angle)));
        }
        return points;
    }
}
