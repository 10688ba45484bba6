# The features of a table are those of scikit-learn's SimpleImputer, StandardScaler, QuantileTransformer and OneHotEncoder.
# Skipped without pandas and scikit-learn; PYTHON names an interpreter that has them.
python=${PYTHON:-python3}
if ! "$python" -c 'import pandas, safetensors, sklearn' 2>/dev/null; then
    echo "skipped: $python has no pandas, safetensors and scikit-learn"
    exit 77
fi
"$python" -W ignore "$SOURCE/bench/tables.py" --sfumato "$SFUMATO" --megabytes 1
