package io.github.iree4j.tools.lab;

import io.github.iree4j.lab.LabResult;
import io.github.iree4j.lab.LabResult.OperationRun;
import io.github.iree4j.lab.Laboratory;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code iree4j lab run}: runs a scenario and prints the outcomes of the operations. */
@Command(
        name = "run",
        description = {
            "Runs a scenario and prints the time, place and frontier of each operation, and the scheduler's decisions about waits.",
            "Exits with 1 when a rule did not hold: an operation started early, hung, or failed without cause."
        },
        mixinStandardHelpOptions = true,
        sortOptions = false)
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class LabRunCommand implements Callable<Integer> {
    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    @Mixin
    private LabFlags flags;

    @Option(
            names = "--host_delay",
            paramLabel = "TICKS",
            defaultValue = "0",
            description = "Ticks until the host observes the end of an operation.")
    private long hostDelay;

    @Option(names = "--json", description = "Prints JSON.")
    private boolean json;

    LabRunCommand() {}

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        LabResult result = Laboratory.run(flags.scenario(), flags.options(hostDelay));
        if (json) {
            out.print(result.toJson());
        } else {
            print(result, out);
        }
        return result.violations().isEmpty() ? 0 : 1;
    }

    private static void print(LabResult result, PrintWriter out) {
        out.println("%s: %s".formatted(result.scenario().id(), result.scenario().label()));
        String form = "%" + -width(result) + "s %9s %-12s %s";
        out.println(form.formatted("operation", "ticks", "lane", "frontier"));
        for (OperationRun each : result.operations()) {
            String ticks = each.start() < 0 ? "-" : each.start() + "-" + each.end();
            String failure = each.failure() == null ? "" : "  failed: " + each.failure();
            out.println(form.formatted(each.operation().id(), ticks, each.lane(), text(each.frontier()) + failure));
        }
        result.semaphores()
                .forEach((id, state) -> out.println("%s=%d %s".formatted(id, state.value(), text(state.frontier()))));
        LabResult.Decisions decisions = result.decisions();
        out.println(
                "waits: %d reached, %d elided by order, %d elided by frontier, %d covered, %d by the device, %d deferred"
                        .formatted(
                                decisions.reached(),
                                decisions.elidedFifo(),
                                decisions.elidedFrontier(),
                                decisions.covered(),
                                decisions.deviceWaits(),
                                decisions.deferred()));
        out.println("final tick: " + result.finalTick());
        if (!result.collateral().isEmpty()) {
            out.println("failed with their timeline: " + String.join(", ", result.collateral()));
        }
        result.violations().forEach(each -> out.println("violated: " + each));
    }

    private static int width(LabResult result) {
        return result.operations().stream()
                .mapToInt(each -> each.operation().id().length())
                .max()
                .orElse(0);
    }

    private static String text(@Nullable Map<String, Long> values) {
        if (values == null) {
            return "(left out)";
        }
        return values.entrySet().stream()
                .map(each -> each.getKey() + ":" + each.getValue())
                .collect(Collectors.joining(", ", "{", "}"));
    }
}
