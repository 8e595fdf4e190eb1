package io.github.iree4j.spring.serving;

import io.github.iree4j.ValueDeclaration;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.serving.ServedModels.Served;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The applicable part of a model in the terms of Triton's model configuration. Shapes are complete, since no dimension
 * is left to a scheduler ({@code max_batch_size} is 0).
 *
 * @param name the name of the model
 * @param platform the kind of the model's program
 * @param function the function serving the model
 * @param inputs the model's inputs
 * @param outputs the model's outputs
 * @param instances number of loaded instances of the program, by kind of device
 */
record ModelConfiguration(
        String name,
        String platform,
        String function,
        List<Value> inputs,
        List<Value> outputs,
        Map<Kind, Integer> instances) {

    static final String BACKEND = "iree";

    /** Kinds of devices, in the order of their protocol numbers. */
    enum Kind {
        KIND_AUTO,
        KIND_GPU,
        KIND_CPU
    }

    /** Datatypes, in the order of their protocol numbers. */
    enum DataType {
        TYPE_INVALID,
        TYPE_BOOL,
        TYPE_UINT8,
        TYPE_UINT16,
        TYPE_UINT32,
        TYPE_UINT64,
        TYPE_INT8,
        TYPE_INT16,
        TYPE_INT32,
        TYPE_INT64,
        TYPE_FP16,
        TYPE_FP32,
        TYPE_FP64,
        TYPE_STRING,
        TYPE_BF16;

        /** Returns the type of a datatype of the protocol; invalid for others. */
        static DataType of(String datatype) {
            for (DataType each : values()) {
                if (each.name().equals("TYPE_" + datatype)) {
                    return each;
                }
            }
            return datatype.equals(Datatype.BYTES.name()) ? TYPE_STRING : TYPE_INVALID;
        }
    }

    /**
     * An input or output.
     *
     * @param name of the value
     * @param type of the elements
     * @param dims the dimensions, -1 for variable dimensions
     */
    record Value(String name, DataType type, List<Long> dims) {
        private Map<String, Object> toMap() {
            Map<String, Object> map = new LinkedHashMap<>();
            map.put("name", name);
            map.put("data_type", type.name());
            map.put("dims", dims);
            return map;
        }
    }

    static ModelConfiguration of(Served served, String platform) {
        LoadedProgram program = served.located().program();
        Map<Kind, Integer> instances = new TreeMap<>();
        program.instances().forEach(instance -> {
            String driver = instance.devices().getFirst().info().driver();
            instances.merge(driver.equals("local") ? Kind.KIND_CPU : Kind.KIND_GPU, 1, Integer::sum);
        });
        return new ModelConfiguration(
                served.name(),
                platform,
                served.function().name(),
                values(served, served.function().arguments(), "input"),
                values(served, served.function().results(), "output"),
                instances);
    }

    private static List<Value> values(Served served, List<ValueDeclaration> declared, String otherwise) {
        List<Value> values = new ArrayList<>();
        for (int i = 0; i < declared.size(); i++) {
            String name = ValueDeclaration.name(declared, i, otherwise);
            values.add(new Value(
                    name, DataType.of(served.datatype(name, declared.get(i))), served.shape(name, declared.get(i))));
        }
        return values;
    }

    /** Converts the configuration for JSON. */
    Map<String, Object> toMap() {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("name", name);
        map.put("platform", platform);
        map.put("backend", BACKEND);
        map.put("version_policy", Map.of("all", Map.of()));
        map.put("max_batch_size", 0);
        map.put("input", inputs.stream().map(Value::toMap).toList());
        map.put("output", outputs.stream().map(Value::toMap).toList());
        List<Map<String, Object>> groups = new ArrayList<>();
        instances.forEach((kind, count) -> {
            Map<String, Object> group = new LinkedHashMap<>();
            group.put("name", name);
            group.put("kind", kind.name());
            group.put("count", count);
            groups.add(group);
        });
        map.put("instance_group", groups);
        map.put("parameters", Map.of("function", Map.of("string_value", function)));
        map.put("model_transaction_policy", Map.of("decoupled", false));
        return map;
    }

    /** Writes the configuration for gRPC: a {@code ModelConfig}. */
    void writeTo(ProtoWriter message) {
        message.string(1, name).string(2, platform).message(3, policy -> policy.message(2, _ -> {}));
        for (Value value : inputs) {
            message.message(
                    5,
                    input -> input.string(1, value.name())
                            .varint(2, value.type().ordinal())
                            .packed(4, value.dims()));
        }
        for (Value value : outputs) {
            message.message(
                    6,
                    output -> output.string(1, value.name())
                            .varint(2, value.type().ordinal())
                            .packed(3, value.dims()));
        }
        instances.forEach((kind, count) -> message.message(
                7, group -> group.string(1, name).varint(2, count).varint(4, kind.ordinal())));
        message.message(14, entry -> entry.string(1, "function").message(2, value -> value.string(1, function)));
        message.string(17, BACKEND).message(19, _ -> {});
    }
}
