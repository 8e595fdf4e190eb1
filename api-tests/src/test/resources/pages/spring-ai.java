package pages;

import io.github.iree4j.spring.ai.Classification;
import io.github.iree4j.spring.ai.IreeClassifier;
import io.github.iree4j.spring.ai.IreeReranker;
import java.util.List;
import org.springframework.ai.document.Document;
import org.springframework.ai.embedding.EmbeddingModel;
import org.springframework.ai.rag.Query;
import org.springframework.ai.vectorstore.SearchRequest;
import org.springframework.ai.vectorstore.VectorStore;

class SpringAi {
    void embed(EmbeddingModel embeddingModel) {
        // fence 1
    }

    void rerank(VectorStore store, IreeReranker reranker, String query) {
        // fence 2
    }

    void classify(IreeClassifier classifier) {
        // fence 3
    }
}
