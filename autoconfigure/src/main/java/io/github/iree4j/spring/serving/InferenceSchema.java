package io.github.iree4j.spring.serving;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.EnumDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Label;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Type;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.MessageOptions;
import com.google.protobuf.DescriptorProtos.MethodDescriptorProto;
import com.google.protobuf.DescriptorProtos.ServiceDescriptorProto;
import com.google.protobuf.Descriptors.DescriptorValidationException;
import com.google.protobuf.Descriptors.FileDescriptor;
import io.grpc.protobuf.ProtoFileDescriptorSupplier;
import java.util.List;
import java.util.Locale;

/** The service and messages as a descriptor, provided by the reflection service to clients such as grpcurl. */
final class InferenceSchema implements ProtoFileDescriptorSupplier {

    private static final String PACKAGE = "inference";

    /** Each message with its fields: number, type, name. The numbers are the numbers of the published protocol. */
    private static final String MESSAGES = """
            ServerLiveRequest
            ServerLiveResponse
              1 bool live
            ServerReadyRequest
            ServerReadyResponse
              1 bool ready
            ModelReadyRequest
              1 string name
              2 string version
            ModelReadyResponse
              1 bool ready
            ServerMetadataRequest
            ServerMetadataResponse
              1 string name
              2 string version
              3 repeated string extensions
            ModelMetadataRequest
              1 string name
              2 string version
            TensorMetadata
              1 string name
              2 string datatype
              3 repeated int64 shape
            ModelMetadataResponse
              1 string name
              2 repeated string versions
              3 string platform
              4 repeated TensorMetadata inputs
              5 repeated TensorMetadata outputs
            InferParameter
              1 bool bool_param
              2 int64 int64_param
              3 string string_param
              4 double double_param
              5 uint64 uint64_param
            InferTensorContents
              1 repeated bool bool_contents
              2 repeated int32 int_contents
              3 repeated int64 int64_contents
              4 repeated uint32 uint_contents
              5 repeated uint64 uint64_contents
              6 repeated float fp32_contents
              7 repeated double fp64_contents
              8 repeated bytes bytes_contents
            InferInputTensor
              1 string name
              2 string datatype
              3 repeated int64 shape
              4 map InferParameter parameters
              5 InferTensorContents contents
            InferRequestedOutputTensor
              1 string name
              2 map InferParameter parameters
            ModelInferRequest
              1 string model_name
              2 string model_version
              3 string id
              4 map InferParameter parameters
              5 repeated InferInputTensor inputs
              6 repeated InferRequestedOutputTensor outputs
              7 repeated bytes raw_input_contents
            InferOutputTensor
              1 string name
              2 string datatype
              3 repeated int64 shape
              4 map InferParameter parameters
              5 InferTensorContents contents
            ModelInferResponse
              1 string model_name
              2 string model_version
              3 string id
              4 map InferParameter parameters
              5 repeated InferOutputTensor outputs
              6 repeated bytes raw_output_contents
            ModelStreamInferResponse
              1 string error_message
              2 ModelInferResponse infer_response
            ModelConfigRequest
              1 string name
              2 string version
            All
            ModelVersionPolicy
              2 All all
            ModelInput
              1 string name
              2 enum DataType data_type
              4 repeated int64 dims
            ModelOutput
              1 string name
              2 enum DataType data_type
              3 repeated int64 dims
            ModelInstanceGroup
              1 string name
              2 int32 count
              4 enum Kind kind
            ModelParameter
              1 string string_value
            ModelTransactionPolicy
              1 bool decoupled
            ModelConfig
              1 string name
              2 string platform
              3 ModelVersionPolicy version_policy
              4 int32 max_batch_size
              5 repeated ModelInput input
              6 repeated ModelOutput output
              7 repeated ModelInstanceGroup instance_group
              14 map ModelParameter parameters
              17 string backend
              19 ModelTransactionPolicy model_transaction_policy
            ModelConfigResponse
              1 ModelConfig config
            ModelRepositoryParameter
              1 bool bool_param
              2 int64 int64_param
              3 string string_param
              4 bytes bytes_param
            RepositoryIndexRequest
              1 string repository_name
              2 bool ready
            ModelIndex
              1 string name
              2 string version
              3 string state
              4 string reason
            RepositoryIndexResponse
              1 repeated ModelIndex models
            RepositoryModelLoadRequest
              1 string repository_name
              2 string model_name
              3 map ModelRepositoryParameter parameters
            RepositoryModelLoadResponse
            RepositoryModelUnloadRequest
              1 string repository_name
              2 string model_name
              3 map ModelRepositoryParameter parameters
            RepositoryModelUnloadResponse
            """;

    private static final FileDescriptor FILE = build();

    @Override
    public FileDescriptor getFileDescriptor() {
        return FILE;
    }

    private static FileDescriptor build() {
        FileDescriptorProto.Builder file = FileDescriptorProto.newBuilder()
                .setName("open_inference.proto")
                .setPackage(PACKAGE)
                .setSyntax("proto3");
        DescriptorProto.Builder message = null;
        for (String line : MESSAGES.lines().toList()) {
            if (!line.startsWith(" ")) {
                message = file.addMessageTypeBuilder().setName(line);
            } else if (message != null) {
                addField(message, line.strip().split(" "));
            }
        }
        file.addEnumType(enumeration("DataType", ModelConfiguration.DataType.values()));
        file.addEnumType(enumeration("Kind", ModelConfiguration.Kind.values()));
        ServiceDescriptorProto.Builder service = file.addServiceBuilder().setName("GRPCInferenceService");
        for (String method : OpenInferenceGrpcService.METHODS) {
            boolean stream = method.equals(OpenInferenceGrpcService.STREAM);
            service.addMethod(MethodDescriptorProto.newBuilder()
                    .setName(method)
                    .setInputType(type(stream ? "ModelInferRequest" : method + "Request"))
                    .setOutputType(type(method + "Response"))
                    .setClientStreaming(stream)
                    .setServerStreaming(stream));
        }
        try {
            return FileDescriptor.buildFrom(file.build(), new FileDescriptor[0]);
        } catch (DescriptorValidationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String type(String message) {
        return "." + PACKAGE + "." + message;
    }

    private static EnumDescriptorProto.Builder enumeration(String name, Enum<?>... values) {
        EnumDescriptorProto.Builder built = EnumDescriptorProto.newBuilder().setName(name);
        for (Enum<?> value : values) {
            built.addValueBuilder().setName(value.name()).setNumber(value.ordinal());
        }
        return built;
    }

    /** Adds a field. The words are a number, optionally "repeated", "map" or "enum", a type and a name. */
    private static void addField(DescriptorProto.Builder message, String... words) {
        List<String> rest = List.of(words).subList(words.length - 2, words.length);
        String name = rest.getLast();
        boolean map = words[1].equals("map");
        FieldDescriptorProto.Builder field = message.addFieldBuilder()
                .setNumber(Integer.parseInt(words[0]))
                .setName(name)
                .setLabel(words.length == 4 && !words[1].equals("enum") ? Label.LABEL_REPEATED : Label.LABEL_OPTIONAL);
        if (map) {
            String entry = name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1) + "Entry";
            DescriptorProto.Builder nested = message.addNestedTypeBuilder()
                    .setName(entry)
                    .setOptions(MessageOptions.newBuilder().setMapEntry(true));
            addField(nested, "1", "string", "key");
            addField(nested, "2", rest.getFirst(), "value");
            field.setType(Type.TYPE_MESSAGE).setTypeName(type(message.getName() + "." + entry));
        } else if (words[1].equals("enum")) {
            field.setType(Type.TYPE_ENUM).setTypeName(type(rest.getFirst()));
        } else if (Character.isUpperCase(rest.getFirst().charAt(0))) {
            field.setType(Type.TYPE_MESSAGE).setTypeName(type(rest.getFirst()));
        } else {
            field.setType(Type.valueOf("TYPE_" + rest.getFirst().toUpperCase(Locale.ROOT)));
        }
    }
}
