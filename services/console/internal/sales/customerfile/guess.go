package customerfile

import (
	"slices"
	"strings"
	"unicode"
)

// words has names of columns in several languages, without spaces and signs, in lower case. Exports of
// Easy!Appointments, Square, Cal.com and of address books use them.
var words = map[Column][]string{
	Name: {"name", "fullname", "customer", "customername", "client", "clientname", "displayname", "attendee",
		"attendeename", "contact", "kunde", "kundenname", "nom", "nomcomplet", "nombre", "nombrecompleto", "nome",
		"nomecompleto", "naam", "klant", "nazwa", "klient", "navn", "namn", "nimi", "jméno", "имя", "фио", "名前", "氏名",
		"姓名", "이름", "الاسم", "adsoyad"},
	FirstName: {"firstname", "givenname", "forename", "vorname", "prénom", "prenom", "primernombre", "nomepróprio",
		"voornaam", "imię", "imie", "fornavn", "förnamn", "etunimi", "křestníjméno", "имяклиента", "名", "ad"},
	LastName: {"lastname", "surname", "familyname", "nachname", "familienname", "nomdefamille", "apellido", "apellidos",
		"cognome", "apelido", "sobrenome", "achternaam", "nazwisko", "etternavn", "efternamn", "sukunimi", "příjmení",
		"фамилия", "姓", "soyad"},
	Email: {"email", "emailaddress", "emailaddresses", "mail", "mailaddress", "emailadresse", "epost", "epostadresse",
		"courriel", "adresseemail", "adressemail", "correo", "correoelectrónico", "correoelectronico", "posta",
		"emailadres", "adresemail", "sähköposti", "электроннаяпочта", "почта", "メール", "メールアドレス", "邮箱", "电子邮件",
		"이메일", "البريدالإلكتروني", "eposta", "attendeeemail", "customeremail", "email1value"},
	Phone: {"phone", "phonenumber", "mobile", "mobilenumber", "mobilephone", "cell", "cellphone", "telephone", "tel",
		"telefon", "telefonnummer", "handy", "handynummer", "mobil", "mobiltelefon", "téléphone", "telephonenumber",
		"numérodetéléphone", "portable", "teléfono", "telefono", "móvil", "movil", "celular", "telefone", "telemóvel",
		"cellulare", "telefoon", "telefoonnummer", "mobiel", "numertelefonu", "puhelin", "телефон", "電話", "電話番号",
		"电话", "手机", "전화", "전화번호", "الهاتف", "customerphone", "attendeephone", "phone1value"},
	Language: {"language", "locale", "sprache", "langue", "idioma", "lingua", "taal", "język", "jezyk", "språk", "sprog",
		"kieli", "язык", "言語", "语言"},
	Notes: {"note", "notes", "comment", "comments", "memo", "remarks", "notiz", "notizen", "bemerkung", "bemerkungen",
		"kommentar", "remarque", "remarques", "commentaire", "nota", "notas", "observaciones", "observações", "note1",
		"opmerking", "opmerkingen", "uwagi", "notatki", "anteckningar", "заметки", "комментарий", "メモ", "备注", "메모"},
	Tags: {"tag", "tags", "group", "groups", "label", "labels", "category", "categories", "gruppe", "gruppen",
		"schlagwörter", "étiquettes", "groupe", "groupes", "etiquetas", "grupo", "grupos", "gruppo", "gruppi", "теги",
		"группа", "customergroups"},
}

// Guess returns the kind of each column, by its name in the first line. A column with an unknown name is [Ignored].
func (t *Table) Guess() []Column {
	columns := make([]Column, len(t.Head))
	for i, head := range t.Head {
		word := strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, head)
		for _, column := range Columns {
			if slices.Contains(words[column], word) {
				columns[i] = column
				break
			}
		}
	}
	return columns
}

// FindColumn returns the number of the column with a name in the first line, without regard to case, or -1.
func (t *Table) FindColumn(name string) int {
	return slices.IndexFunc(t.Head, func(head string) bool {
		return strings.EqualFold(strings.TrimSpace(head), strings.TrimSpace(name))
	})
}
