package io.github.iree4j.sample;

import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.Programs.LocatedFunction;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Profile;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.databind.JsonNode;

/** Calls any function of any program, configured or found in the {@linkplain ModelDirectory models directory}. */
@RestController
@Profile("!production | models")
@RequestMapping("/models")
final class ModelsController {

    private final InvocationService invocations;
    private final Programs programs;
    private final ModelDirectory directory;

    ModelsController(InvocationService invocations, Programs programs, ModelDirectory directory) {
        this.invocations = invocations;
        this.programs = programs;
        this.directory = directory;
    }

    /**
     * The callable programs.
     *
     * @param models the loaded programs
     * @param failed files of the models directory that could not be loaded, with the reason
     */
    record Models(List<Model> models, Map<String, String> failed) {}

    /**
     * A program.
     *
     * @param name the program's name, the first part of the functions' paths
     * @param location the location of the module
     * @param device the device running the program
     * @param functions the functions of the program
     */
    record Model(String name, String location, String device, List<Function> functions) {}

    /**
     * A function.
     *
     * @param name the function's name, the second part of the path
     * @param declaration arguments and results, as recorded by the compiler
     */
    record Function(String name, @Nullable String declaration) {}

    /**
     * Arguments of a call.
     *
     * @param inputs numbers and tensors, see {@link TensorJson}
     */
    record Call(@Nullable List<JsonNode> inputs) {}

    /**
     * The results of a call.
     *
     * @param outputs numbers, tensors, null for null references
     */
    record Return(List<@Nullable Object> outputs) {}

    @GetMapping
    Models models() {
        directory.refresh();
        return new Models(programs.all().stream().map(ModelsController::model).toList(), directory.failures());
    }

    private static Model model(LoadedProgram loaded) {
        return new Model(
                loaded.source().name(),
                loaded.source().location(),
                loaded.program().devices().getFirst().id(),
                loaded.program().functions().stream()
                        .map(function -> new Function(function.name(), function.declaration()))
                        .toList());
    }

    @PostMapping("/{module}/{function}")
    Return call(@PathVariable String module, @PathVariable String function, @RequestBody Call call) {
        if (programs.find(module).isEmpty()) {
            directory.refresh();
        }
        LocatedFunction callee = programs.locate(module + "." + function);
        if (call.inputs == null) {
            throw new InvalidFieldException("inputs", "is required; it may be empty");
        }
        List<Object> arguments = new ArrayList<>();
        try {
            for (int i = 0; i < call.inputs.size(); i++) {
                arguments.add(TensorJson.argument("inputs[%d]".formatted(i), call.inputs.get(i)));
            }
            try (Results results =
                    invocations.request(callee).inputs(arguments.toArray()).invoke()) {
                List<@Nullable Object> outputs = new ArrayList<>();
                for (Object result : results.asList()) {
                    outputs.add(output(result));
                }
                return new Return(outputs);
            }
        } finally {
            for (Object argument : arguments) {
                if (argument instanceof Tensor tensor) {
                    tensor.close();
                }
            }
        }
    }

    private static @Nullable Object output(@Nullable Object result) {
        return switch (result) {
            case Tensor tensor -> TensorJson.of(tensor);
            case Number number -> number;
            case null -> null;
            default -> result.toString();
        };
    }
}
