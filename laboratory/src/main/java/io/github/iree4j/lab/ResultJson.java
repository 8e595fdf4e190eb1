package io.github.iree4j.lab;

import io.github.iree4j.lab.LabResult.Decisions;
import io.github.iree4j.lab.LabResult.OperationRun;
import io.github.iree4j.lab.LabResult.SemaphoreState;
import io.github.iree4j.lab.Scenario.Operation;
import io.github.iree4j.lab.Scenario.Semaphore;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The JSON form of scenarios and results. */
final class ResultJson {
    private ResultJson() {}

    static String write(LabResult result) {
        Scenario scenario = result.scenario();
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("id", scenario.id());
        json.put("finalTick", result.finalTick());
        json.put("ops", result.operations().stream().map(ResultJson::operation).toList());
        Map<String, Object> semaphores = new LinkedHashMap<>();
        for (Semaphore each : scenario.semaphores()) {
            SemaphoreState state = Objects.requireNonNull(result.semaphores().get(each.id()), each.id());
            Map<String, @Nullable Object> semaphore = new LinkedHashMap<>();
            label(semaphore, each.id(), each.label());
            semaphore.put("value", state.value());
            semaphore.put("frontier", state.frontier());
            if (state.failure() != null) {
                semaphore.put("failure", state.failure());
            }
            semaphores.put(each.id(), semaphore);
        }
        json.put("sems", semaphores);
        json.put("label", scenario.label());
        json.put("description", scenario.description());
        json.put("placement", name(scenario.placement()));
        json.put("hardware", hardware(scenario));
        json.put("annotations", annotations(scenario));
        json.put("decisions", decisions(result.decisions()));
        json.put(
                "queues",
                result.queues().stream()
                        .map(each -> Map.of("id", each.id(), "hw", each.hardware(), "ops", each.operations()))
                        .map(ResultJson::inOrder)
                        .toList());
        json.put("memory", result.memory().stream().map(ResultJson::memory).toList());
        json.put("violations", result.violations());
        json.put("collateral", result.collateral());
        return JsonWriter.write(json);
    }

    private static void label(Map<String, @Nullable Object> json, String id, String label) {
        if (!label.equals(id)) {
            json.put("label", label);
        }
    }

    private static Map<String, Object> inOrder(Map<String, Object> queue) {
        Map<String, Object> ordered = new LinkedHashMap<>();
        for (String key : List.of("id", "hw", "ops")) {
            ordered.put(key, queue.getOrDefault(key, ""));
        }
        return ordered;
    }

    private static Map<String, @Nullable Object> operation(OperationRun run) {
        Operation operation = run.operation();
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("id", operation.id());
        label(json, operation.id(), operation.label());
        json.put("hw", operation.hardware());
        json.put("duration", operation.duration());
        json.put("wait", operation.waits());
        json.put("signal", operation.signals());
        if (!operation.allocates().isEmpty()) {
            json.put("alloc", operation.allocates());
        }
        if (!operation.frees().isEmpty()) {
            json.put("free", operation.frees());
        }
        json.put("start", run.start() < 0 ? null : run.start());
        json.put("end", run.end() < 0 ? null : run.end());
        json.put("lane", run.lane().isEmpty() ? null : run.lane());
        json.put("frontier", run.frontier());
        json.put("issued", run.issued() < 0 ? null : run.issued());
        json.put("entries", run.entries());
        json.put("tainted", run.isTainted());
        json.put("decisions", decisions(run.decisions()));
        Map<String, String> waits = new LinkedHashMap<>();
        run.waits().forEach((semaphore, decision) -> waits.put(semaphore, name(decision)));
        json.put("waits", waits);
        if (run.failure() != null) {
            json.put("failure", run.failure());
        }
        if (run.isHit()) {
            json.put("hit", true);
        }
        return json;
    }

    private static Map<String, @Nullable Object> memory(LabResult.MemoryEvent event) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("tick", event.tick());
        json.put("hw", event.hardware());
        json.put("buffer", event.buffer());
        json.put("units", event.units());
        json.put("op", event.operation());
        json.put("slab", event.block().slab());
        json.put("offset", event.block().offset());
        json.put("reuse", event.block().reuse().name());
        json.put("frontier", event.block().frontier());
        return json;
    }

    private static Map<String, Long> decisions(Decisions decisions) {
        Map<String, Long> json = new LinkedHashMap<>();
        json.put("reached", decisions.reached());
        json.put("elidedFifo", decisions.elidedFifo());
        json.put("elidedFrontier", decisions.elidedFrontier());
        json.put("covered", decisions.covered());
        json.put("deviceWaits", decisions.deviceWaits());
        json.put("deferred", decisions.deferred());
        return json;
    }

    private static List<Map<String, @Nullable Object>> hardware(Scenario scenario) {
        return scenario.hardware().stream()
                .map(each -> {
                    Map<String, @Nullable Object> json = new LinkedHashMap<>();
                    json.put("id", each.id());
                    label(json, each.id(), each.label());
                    json.put("lanes", each.lanes());
                    json.put("scalable", each.scalable());
                    json.put("memory", each.memory());
                    if (!each.machine().isEmpty()) {
                        json.put("machine", each.machine());
                    }
                    return json;
                })
                .toList();
    }

    private static List<Map<String, Object>> annotations(Scenario scenario) {
        return scenario.annotations().stream()
                .map(each -> {
                    Map<String, Object> json = new LinkedHashMap<>();
                    json.put("tick", each.tick());
                    json.put("text", each.text());
                    return json;
                })
                .toList();
    }

    static String name(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
