package io.github.iree4j.tools;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.RuntimeBuilder;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.flight.DeviceReplay;
import io.github.iree4j.flight.Explanation;
import io.github.iree4j.flight.FlightRecording;
import io.github.iree4j.flight.Forecast;
import io.github.iree4j.flight.Replay;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code iree4j replay}: repeats a recording on the scheduler, with the recorded or other hardware. */
@Command(
        name = "replay",
        description = {
            "Repeats a recording on the scheduler, with operations that do nothing, and compares decisions and"
                    + " frontiers.",
            "With --device: on the queues of a device, with fills in place of the recorded operations.",
            "With other hardware: estimates the duration. The exit status is 1 when a replay differs."
        },
        mixinStandardHelpOptions = true,
        sortOptions = false)
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class ReplayCommand implements Callable<Integer> {
    private static final Pattern MEMORY = Pattern.compile("([+-]?)([0-9]{1,4})%");

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    @Mixin
    private RecordingFlags flags;

    @Option(
            names = "--device",
            paramLabel = "DEVICE",
            description =
                    "Repeats the recording on this device, see 'iree4j devices', opened once for each recorded device."
                            + " Repeat for several devices, assigned in turn to the recorded devices.")
    private List<String> targets = new ArrayList<>();

    @Option(
            names = "--patience",
            paramLabel = "SECONDS",
            defaultValue = "60",
            description = "With --device: the longest wait for the end of an operation. Default: ${DEFAULT-VALUE}.")
    private int patience;

    @Option(names = "--queues", paramLabel = "N", description = "Number of queues of each device.")
    private @Nullable Integer queues;

    @Option(names = "--devices", paramLabel = "N", description = "Number of devices in place of each.")
    private @Nullable Integer devices;

    @Option(names = "--memory", paramLabel = "P", description = "Memory of each device, as +20%% or -50%% or 150%%.")
    private @Nullable String memory;

    @Option(names = "--json", description = "Prints JSON.")
    private boolean json;

    ReplayCommand() {}

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        FlightRecording recording = flags.read(spec.commandLine().getErr());
        boolean modelled = queues != null || devices != null || memory != null;
        if (!targets.isEmpty()) {
            if (modelled) {
                throw new CommandLine.ParameterException(
                        spec.commandLine(),
                        "--device repeats the recording unchanged; leave out --queues, --devices and --memory");
            }
            DeviceReplay replay = onDevices(recording);
            out.println(json ? json(replay) : replay.toString());
            return replay.differences().isEmpty() && replay.notEnded() == 0 ? 0 : 1;
        }
        if (!modelled) {
            Replay replay = Replay.of(recording);
            out.println(json ? json(replay) : replay.toString());
            return replay.differences().isEmpty() ? 0 : 1;
        }
        Forecast.Hardware hardware =
                new Forecast.Hardware(queues == null ? 0 : queues, devices == null ? 1 : devices, percent());
        Forecast forecast = Forecast.of(recording, hardware);
        out.println(json ? json(forecast) : text(forecast));
        return 0;
    }

    private DeviceReplay onDevices(FlightRecording recording) {
        try (FrontierTracker tracker = FrontierTracker.create()) {
            SchedulingDomain domain = SchedulingDomain.create(
                    AxisAllocator.create(1, 0), tracker, recording.header().frontierCapacity());
            RuntimeBuilder builder = IreeRuntime.builder();
            List<Integer> counts = DeviceReplay.queueCounts(recording);
            for (int i = 0; i < Math.max(1, counts.size()); i++) {
                int count = counts.isEmpty() ? 1 : counts.get(i);
                DeviceOptions options = DeviceOptions.builder()
                        .schedulingDomain(domain)
                        .queueCount(count)
                        .build();
                builder.device("device-" + i, targets.get(i % targets.size()), options);
            }
            try (IreeRuntime runtime = builder.build()) {
                return DeviceReplay.of(recording, domain, runtime.devices(), Duration.ofSeconds(Math.max(1, patience)));
            }
        }
    }

    private static String json(DeviceReplay replay) {
        return String.format(
                Locale.ROOT,
                "{\"operations\": %d, \"leftOut\": %d, \"notEnded\": %d, \"decisions\": %d, \"frontiers\": %d, \"dependOnTime\": %d, \"differences\": %d}",
                replay.operations(),
                replay.leftOut(),
                replay.notEnded(),
                replay.waits(),
                replay.frontiers(),
                replay.dependOnTime(),
                replay.differences().size());
    }

    private int percent() {
        if (memory == null) {
            return 100;
        }
        Matcher matcher = MEMORY.matcher(memory);
        if (!matcher.matches()) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(), "--memory is a percentage such as +20%, not " + memory);
        }
        int number = Integer.parseInt(matcher.group(2));
        return switch (matcher.group(1)) {
            case "+" -> 100 + number;
            case "-" -> 100 - number;
            default -> number;
        };
    }

    private static String json(Replay replay) {
        return String.format(
                Locale.ROOT,
                "{\"operations\": %d, \"leftOut\": %d, \"decisions\": %d, \"frontiers\": %d, \"behindGaps\": %d, \"ends\": %d, \"deviationNanos\": %d, \"reordered\": %d, \"differences\": %d}",
                replay.operations(),
                replay.leftOut(),
                replay.waits(),
                replay.frontiers(),
                replay.behindGaps(),
                replay.ends(),
                replay.deviation(),
                replay.reordered(),
                replay.differences().size());
    }

    private static String json(Forecast forecast) {
        return String.format(
                Locale.ROOT,
                "{\"recordedNanos\": %d, \"modelNanos\": %d, \"modelError\": %.3f, \"shortestNanos\": %d, \"longestNanos\": %d,"
                        + " \"following\": %s, \"timed\": %s, \"operations\": %d, \"notEnded\": %d, \"hanging\": %d, \"leftOut\": %d}",
                forecast.recorded(),
                forecast.model(),
                forecast.modelError(),
                forecast.shortest(),
                forecast.longest(),
                json(forecast.following()),
                json(forecast.timed()),
                forecast.operations(),
                forecast.notEnded(),
                forecast.hanging(),
                forecast.leftOut());
    }

    private static String json(Forecast.Range range) {
        return "{\"shortestNanos\": " + range.shortest() + ", \"longestNanos\": " + range.longest() + "}";
    }

    private static String text(Forecast forecast) {
        return String.format(
                        Locale.ROOT,
                        "recorded %s; modelled %s, an error of %.1f%%; with the other hardware %s",
                        Explanation.duration(forecast.recorded()),
                        Explanation.duration(forecast.model()),
                        100 * forecast.modelError(),
                        forecast.isWhole() ? comparison(forecast) : "nothing to compare")
                + (forecast.notEnded() == 0
                        ? ""
                        : "; %d of %d operations did not end".formatted(forecast.notEnded(), forecast.operations()))
                + (forecast.hanging() == 0
                        ? ""
                        : "; %d more had not ended in the recording, and are left out".formatted(forecast.hanging()))
                + (forecast.leftOut() == 0
                        ? ""
                        : "; %d more did not run or lack records, and are left out".formatted(forecast.leftOut()));
    }

    private static String comparison(Forecast forecast) {
        if (forecast.following().equals(forecast.timed())) {
            return times(forecast.following(), forecast.model());
        }
        return "%s if each request follows the end of an earlier request; %s if requests come at the recorded times"
                .formatted(times(forecast.following(), forecast.model()), times(forecast.timed(), forecast.model()));
    }

    private static String times(Forecast.Range range, long model) {
        double shortest = range.shortest() / (double) Math.max(1, model);
        if (range.shortest() == range.longest()) {
            return String.format(
                    Locale.ROOT, "%s, %.2f times the model", Explanation.duration(range.shortest()), shortest);
        }
        return String.format(
                Locale.ROOT,
                "%s to %s, %.2f to %.2f times the model",
                Explanation.duration(range.shortest()),
                Explanation.duration(range.longest()),
                shortest,
                range.longest() / (double) Math.max(1, model));
    }
}
