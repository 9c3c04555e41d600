"""Grammars of pages in German, Russian, Chinese, Japanese and Arabic."""

GERMAN = {
    "words": {
        "person": ["Anna Bergmann", "Lukas Seidel", "Frau Doktor Engel", "Matthias Krüger", "Selin Aydın", "Jonas Pfeiffer", "Hannelore Voss"],
        "ort": ["Lüneburg", "im Oberharz", "an der Weser", "in der Altstadt", "bei Görlitz", "am Bodensee", "im Hafenviertel", "in Südbaden"],
        "n": ["12", "27", "340", "1.200", "48", "90", "6.500", "75"], "jahr": ["1921", "1967", "1989", "2004", "2015", "2021"],
        "tag": ["Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag"], "sache": ["die Brücke", "das Heizwerk", "die Bahnstrecke", "das Freibad", "die Stadtbücherei", "der Speichersee"],
        "thema": ["Energie", "Reisen", "Garten", "Fußball", "Geldanlage", "Gesundheit"],
    },
    "rules": {
        "main": [
            "Der Stadtrat hat am {tag} beschlossen, dass {sache} erst {jahr} saniert wird, obwohl Gutachter schon vor {n} Wochen Risse gefunden hatten.",
            "„Wir haben lange gewartet, und nun fehlt das Geld“, sagte {person}, die das Vorhaben seit {jahr} leitet.",
            "Nach Angaben der Verwaltung kostet der Umbau {ort} rund {n} Millionen Euro, deutlich mehr als zunächst geplant.",
            "{person} hält die Zahlen für geschönt und verweist auf einen Bericht aus dem Jahr {jahr}, der nie veröffentlicht wurde.",
            "Viele Anwohner {ort} berichten, dass sie seit {n} Tagen keinen Strom haben und auf Antwort warten.",
            "Im Jahr {jahr} wurde {sache} nach einem Brand in vereinfachter Form wieder aufgebaut und unter Denkmalschutz gestellt.",
            "Ob {sache} am Ende tatsächlich gebraucht wird, ist unter Fachleuten umstritten.",
            "Am {tag} kamen {n} Menschen zu einer Versammlung, die bis spät in die Nacht dauerte.",
            "Ein Sprecher wollte sich dazu nicht äußern.",
            "Für {person} bedeutet die Sperrung einen Umweg von {n} Kilometern, jeden Morgen und jeden Abend.",
            "Der nächste Bericht soll {ort} vorgestellt werden, sobald die Messungen abgeschlossen sind.",
        ],
        "cookie": ["Wir und unsere {n} Partner verwenden Cookies, um Inhalte zu personalisieren und Anzeigen zu messen.", "Ihre Einwilligung können Sie jederzeit in den Einstellungen widerrufen, auch für {n} Anbieter auf einmal."],
        "newsletter": ["Das Wichtigste zum Thema {thema} jeden {tag} in Ihrem Postfach.", "Kostenlos, unverbindlich und jederzeit kündbar."],
        "ad": ["Anzeige: Jetzt {n} Prozent bei {thema} sparen, nur noch bis {tag}.", "Mit unserem Vergleichsrechner für {thema} finden Sie in {n} Sekunden das beste Angebot."],
        "teaser": ["{thema}: {n} Fehler, die fast alle machen", "Warum {ort} plötzlich alle über {thema} reden", "Video: {person} probiert {thema}", "Liveticker: {thema} am {tag}"],
        "comment": ["Ich wohne seit {n} Jahren {ort} und habe davon noch nie etwas gehört.", "Endlich schreibt das mal jemand, danke an {person}!", "Und wer bezahlt das am Ende wieder, natürlich wir."],
        "bio": ["{person} schreibt seit {jahr} über {thema} und lebt {ort}."],
        "about": ["Seit {jahr} berichten wir unabhängig über {thema} und {thema}.", "Alle Rechte vorbehalten, Nachdruck nur mit Genehmigung des Verlags."],
        "modal": ["Sie haben {n} kostenlose Artikel gelesen, bitte melden Sie sich an."], "noscript": ["Bitte aktivieren Sie JavaScript, um das Video über {thema} zu sehen."],
        "title": ["Warum {sache} erst {jahr} kommt", "{sache} und die Folgen"], "heading": ["Hintergrund", "Kosten und Termine", "Die Lage {ort}", "Offene Fragen"],
    },
    "nav": ["Startseite", "Politik", "Wirtschaft", "Kultur", "Sport", "Reise", "Wissen", "Abo", "Archiv", "Kontakt", "Stellenmarkt", "Wetter", "Video", "Ratgeber"],
    "labels": {"share": ["Teilen", "Drucken", "Merken", "Mailen"], "comments": "Kommentare", "related": "Mehr zum Thema", "reply": "Antworten", "popular": "Meistgelesen", "subscribe": "Abonnieren",
               "accept": "Alle akzeptieren", "reject": "Ablehnen", "search": "Suche", "legal": ["Impressum", "Datenschutz", "AGB", "Cookie-Einstellungen"], "by": "Von", "read": "Min. Lesezeit",
               "references": "Einzelnachweise", "ingredients": "Zutaten", "author": "Zur Person"},
}

RUSSIAN = {
    "words": {
        "person": ["Анна Соколова", "Игорь Лебедев", "Мария Кузнецова", "Павел Орлов", "Тимур Ахметов"], "ort": ["в Твери", "на Урале", "в старом порту", "под Казанью", "в северных районах"],
        "n": ["12", "27", "340", "48", "90", "6500", "75"], "jahr": ["1921", "1967", "1989", "2004", "2015", "2021"], "tag": ["понедельник", "вторник", "четверг", "пятницу"],
        "sache": ["мост", "вокзал", "музей", "бассейн", "котельную", "библиотеку"], "thema": ["энергетике", "путешествиях", "футболе", "финансах", "здоровье"],
    },
    "rules": {
        "main": [
            "Городской совет решил в {tag} отложить ремонт: {sache} закроют только через {n} недель, хотя трещины нашли ещё весной.",
            "«Мы просили три года, а получили три месяца, и этого явно мало», — сказала {person}, которая руководит проектом с {jahr} года.",
            "По данным администрации, работы {ort} обойдутся в {n} миллионов рублей, что заметно больше первоначальной сметы.",
            "{person} считает эти цифры завышенными и ссылается на отчёт {jahr} года, который так и не был опубликован.",
            "Жители {ort} рассказывают, что уже {n} дней живут без отопления и ждут ответа.",
            "В {jahr} году после пожара {sache} восстановили в упрощённом виде и взяли под охрану.",
            "Специалисты спорят о том, нужен ли вообще такой проект {ort}.",
            "В {tag} на собрание пришли {n} человек, и разговор затянулся до поздней ночи.",
            "Представитель ведомства от комментариев отказался.",
            "Для предпринимателей это означает {n} километров объезда, каждое утро и каждый вечер.",
        ],
        "cookie": ["Мы и {n} наших партнёров используем файлы cookie, чтобы показывать подходящую рекламу.", "Вы можете изменить настройки в любое время, в том числе для {n} партнёров сразу."],
        "newsletter": ["Самое важное о {thema} каждую неделю в вашей почте.", "Бесплатно, без рекламы, отписаться можно в один щелчок."],
        "ad": ["Реклама: скидка {n} процентов только до конца недели, успейте узнать о {thema}.", "Сравните {n} предложений и выберите лучшее вместе с нашим партнёром."],
        "teaser": ["Что нужно знать о {thema}: {n} фактов", "Видео: {person} рассказывает о {thema}", "Почему {ort} все говорят о {thema}"],
        "comment": ["Живу {ort} уже {n} лет и ни разу такого не видел.", "Спасибо автору, наконец-то кто-то написал о {thema} правду!", "А платить, как всегда, будем мы."],
        "bio": ["{person} с {jahr} года пишет о {thema}."], "about": ["С {jahr} года мы независимо рассказываем о {thema}.", "Все права защищены, перепечатка только с разрешения редакции."],
        "modal": ["Вы прочитали {n} бесплатных статей, пожалуйста, войдите."], "noscript": ["Включите JavaScript, чтобы посмотреть видео о {thema}."],
        "title": ["Почему {sache} откроют не раньше {jahr} года", "Что будет {ort}"], "heading": ["Предыстория", "Сроки и стоимость", "Что говорят {ort}", "Открытые вопросы"],
    },
    "nav": ["Главная", "Политика", "Экономика", "Культура", "Спорт", "Наука", "Подписка", "Архив", "Контакты", "Погода", "Видео", "Мнения"],
    "labels": {"share": ["Поделиться", "Печать", "Сохранить"], "comments": "Комментарии", "related": "Читайте также", "reply": "Ответить", "popular": "Популярное", "subscribe": "Подписаться",
               "accept": "Принять все", "reject": "Отклонить", "search": "Поиск", "legal": ["Условия", "Конфиденциальность", "О сайте"], "by": "Автор", "read": "мин чтения",
               "references": "Примечания", "ingredients": "Ингредиенты", "author": "Об авторе"},
}

CHINESE = {
    "words": {
        "person": ["王立新", "李晓梅", "陈国栋", "赵敏", "周文博"], "ort": ["老城区", "江北新区", "滨海一带", "西部山区", "大学城附近"], "n": ["十二", "27", "340", "四十八", "90", "6500"],
        "jahr": ["1921", "1967", "1989", "2004", "2015", "2021"], "tag": ["周一", "周二", "周四", "周五"], "sache": ["跨江大桥", "地铁三号线", "供热管网", "图书馆", "污水处理厂"], "thema": ["能源", "旅行", "园艺", "足球", "理财"],
    },
    "rules": {
        "main": [
            "市政府{tag}宣布，由于工程师在{n}处支撑结构上发现裂缝，{sache}的改造工程将推迟到明年春季。",
            "“我们申请了三年时间，最后只得到三个月，这显然不够。”自{jahr}年起负责该项目的{person}说。",
            "根据公开的文件，{ort}的施工费用约为{n}亿元，远远高于最初的预算。",
            "{person}认为这些数字并不可靠，并提到{jahr}年一份从未发表的报告。",
            "{ort}的居民表示，他们已经等待了{n}天，至今没有收到任何答复。",
            "{jahr}年的一场火灾之后，{sache}以较为简单的形式重建，随后被列为保护建筑。",
            "专家们对于{sache}是否真的有必要，意见并不一致。",
            "{tag}晚上，有{n}人参加了说明会，讨论一直持续到深夜。",
            "有关部门的发言人拒绝就此事发表评论。",
            "对于在{ort}开店的{person}来说，封路意味着每天要多走{n}公里。",
            "下一份报告预计在{tag}公布，届时将给出几个不同的方案。",
        ],
        "cookie": ["我们和{n}个合作伙伴使用Cookie来改进内容和衡量广告效果。", "您可以随时在设置中更改您对{n}家供应商的选择。"], "newsletter": ["每{tag}早上，把有关{thema}的精彩内容送到您的邮箱。", "完全免费，随时可以退订。"],
        "ad": ["广告：本周{thema}产品优惠{n}个百分点，先到先得。", "用我们的工具比较{n}种{thema}方案，只需一分钟。"], "teaser": ["关于{thema}的{n}个误区", "视频：{person}第一次尝试{thema}", "为什么{ort}人人都在谈{thema}"],
        "comment": ["我在{ort}住了{n}年，从来没见过这种事。", "终于有人把{thema}说清楚了，谢谢{person}！", "最后还不是我们来买单。"], "bio": ["{person}，{jahr}年起撰写{thema}方面的文章，现居{ort}。"],
        "about": ["本站创办于{jahr}年，独立报道{thema}与{thema}。", "未经许可，不得转载本站任何内容。"], "modal": ["您已阅读{n}篇免费文章，请登录后继续。"], "noscript": ["请启用JavaScript以观看有关{thema}的视频。"],
        "title": ["{sache}为何推迟到{jahr}年以后", "{ort}的下一步"], "heading": ["背景", "费用与时间", "{ort}的情况", "尚未解决的问题"],
    },
    "nav": ["首页", "国内", "国际", "财经", "科技", "体育", "文化", "旅游", "视频", "专题", "招聘", "联系我们", "天气", "评论"],
    "labels": {"share": ["分享", "收藏", "打印"], "comments": "评论", "related": "相关阅读", "reply": "回复", "popular": "热门", "subscribe": "订阅", "accept": "全部接受", "reject": "拒绝", "search": "搜索",
               "legal": ["使用条款", "隐私政策", "关于我们"], "by": "作者", "read": "分钟阅读", "references": "参考资料", "ingredients": "材料", "author": "作者简介"},
}

JAPANESE = {
    "words": {
        "person": ["田中美咲", "佐藤健一", "鈴木花子", "高橋亮", "山本直樹"], "ort": ["旧市街", "港の周辺", "北部の山間部", "駅前地区", "川沿いの町"], "n": ["12", "27", "340", "48", "90", "6500"],
        "jahr": ["1921", "1967", "1989", "2004", "2015", "2021"], "tag": ["月曜日", "火曜日", "木曜日", "金曜日"], "sache": ["新しい橋", "図書館", "路面電車", "浄水場", "市民会館"], "thema": ["エネルギー", "旅行", "園芸", "サッカー", "資産運用"],
    },
    "rules": {
        "main": [
            "市は{tag}、{n}か所の支柱にひびが見つかったため、{sache}の工事を来年の春まで延期すると発表した。",
            "「三年を求めたのに、与えられたのは三か月で、とても足りません」と、{jahr}年から計画を率いる{person}さんは話す。",
            "公開された資料によると、{ort}での工事費はおよそ{n}億円で、当初の見積もりを大きく上回る。",
            "{person}さんはこの数字に疑問を呈し、{jahr}年に作られたまま公表されなかった報告書を挙げた。",
            "{ort}の住民は、もう{n}日も返事を待っていると口をそろえる。",
            "{jahr}年の火災のあと、{sache}は簡素な形で再建され、その後文化財に指定された。",
            "{sache}が本当に必要かどうかについて、専門家の意見は分かれている。",
            "{tag}の夜には{n}人が説明会に集まり、話し合いは深夜まで続いた。",
            "担当者はコメントを控えた。",
            "{ort}で店を営む{person}さんにとって、通行止めは毎日{n}キロの遠回りを意味する。",
            "次の報告は{tag}に公表される予定で、いくつかの案が示される見込みだ。",
        ],
        "cookie": ["当社と{n}社のパートナーは、広告の効果を測るためにクッキーを使用します。", "設定はいつでも変更でき、{n}社分をまとめて拒否することもできます。"], "newsletter": ["{thema}の話題を毎週{tag}の朝にお届けします。", "登録は無料で、いつでも解除できます。"],
        "ad": ["広告：今週だけ{thema}の商品が{n}パーセント引きになります。", "{n}種類の{thema}プランを一分で比較できます。"], "teaser": ["{thema}についての{n}の誤解", "動画：{person}が{thema}に初挑戦", "なぜ{ort}で{thema}が話題なのか"],
        "comment": ["{ort}に{n}年住んでいますが、そんな話は聞いたことがありません。", "{person}さん、{thema}についてよく書いてくれました。", "結局払うのは私たちですよね。"], "bio": ["{person}は{jahr}年から{thema}について執筆し、{ort}に暮らす。"],
        "about": ["{jahr}年の創刊以来、{thema}と{thema}を独立した立場で伝えています。", "本サイトの内容の無断転載を禁じます。"], "modal": ["無料記事を{n}本お読みになりました、続きを読むにはログインしてください。"], "noscript": ["{thema}の動画を見るにはJavaScriptを有効にしてください。"],
        "title": ["{sache}はなぜ{jahr}年より遅れるのか", "{ort}のこれから"], "heading": ["背景", "費用と日程", "{ort}の場合", "残された課題"],
    },
    "nav": ["ホーム", "社会", "政治", "経済", "国際", "スポーツ", "文化", "旅", "動画", "特集", "求人", "お問い合わせ", "天気"],
    "labels": {"share": ["シェア", "保存", "印刷"], "comments": "コメント", "related": "関連記事", "reply": "返信", "popular": "人気記事", "subscribe": "登録する", "accept": "すべて許可", "reject": "拒否", "search": "検索",
               "legal": ["利用規約", "プライバシー", "会社概要"], "by": "文", "read": "分で読めます", "references": "脚注", "ingredients": "材料", "author": "筆者紹介"},
}

ARABIC = {
    "words": {
        "person": ["ليلى حداد", "سامر الخطيب", "نادية منصور", "كريم العلي", "هدى يوسف"], "ort": ["المدينة القديمة", "الأحياء الشمالية", "منطقة الميناء", "وادي النهر"], "n": ["12", "27", "340", "48", "90", "6500"],
        "jahr": ["1921", "1967", "1989", "2004", "2015", "2021"], "tag": ["الاثنين", "الثلاثاء", "الخميس", "الجمعة"], "sache": ["الجسر الجديد", "محطة المياه", "خط الترام", "المكتبة العامة", "السوق المركزي"], "thema": ["الطاقة", "السفر", "الحدائق", "كرة القدم", "الادخار"],
    },
    "rules": {
        "main": [
            "قرر مجلس المدينة يوم {tag} تأجيل العمل في {sache}، بعد أن عثر المهندسون على تشققات في {n} من الأعمدة.",
            "وقالت {person}، التي تدير المشروع منذ عام {jahr}: «طلبنا ثلاث سنوات فحصلنا على ثلاثة أشهر، وهذا لا يكفي».",
            "وبحسب الوثائق المنشورة، تبلغ تكلفة الأعمال في {ort} نحو {n} مليون دينار، أي أكثر بكثير من التقدير الأول.",
            "ويرى {person} أن هذه الأرقام غير دقيقة، مشيرا إلى تقرير أعد عام {jahr} ولم ينشر قط.",
            "ويقول سكان {ort} إنهم ينتظرون الجواب منذ {n} يوما، من دون أي نتيجة.",
            "وفي عام {jahr} أعيد بناء {sache} بعد الحريق بشكل أبسط، ثم أدرج في قائمة المباني المحمية.",
            "ويختلف الخبراء حول ما إذا كان {sache} ضروريا حقا.",
            "وحضر {n} شخصا اجتماعا عقد مساء {tag} واستمر حتى ساعة متأخرة من الليل.",
            "وامتنع المتحدث الرسمي عن التعليق.",
            "أما أصحاب المتاجر في {ort} فعليهم أن يقطعوا {n} كيلومترا إضافيا كل صباح وكل مساء.",
        ],
        "cookie": ["نستخدم نحن و{n} من شركائنا ملفات تعريف الارتباط لتحسين المحتوى وقياس الإعلانات.", "يمكنك تغيير اختيارك في أي وقت من صفحة الإعدادات لجميع الشركاء وعددهم {n}."], "newsletter": ["أهم الأخبار عن {thema} في بريدك كل يوم {tag}.", "الاشتراك مجاني ويمكن إلغاؤه في أي وقت."],
        "ad": ["إعلان: خصم {n} بالمئة على عروض {thema} حتى نهاية الأسبوع.", "قارن بين {n} عرضا في مجال {thema} خلال دقيقة واحدة."], "teaser": ["{n} حقيقة عن {thema} لا يعرفها أحد", "فيديو: {person} وتجربة {thema}", "لماذا يتحدث الجميع في {ort} عن {thema}"],
        "comment": ["أعيش في {ort} منذ {n} سنة ولم أر شيئا كهذا.", "شكرا {person} على هذا الكلام عن {thema}.", "وفي النهاية نحن من يدفع الثمن."], "bio": ["{person} يكتب عن {thema} منذ عام {jahr}."],
        "about": ["منذ عام {jahr} ونحن ننقل أخبار {thema} باستقلالية.", "جميع الحقوق محفوظة، ولا يجوز النقل من دون إذن الناشر."], "modal": ["لقد قرأت {n} مقالات مجانية، يرجى تسجيل الدخول."], "noscript": ["يرجى تفعيل جافاسكربت لمشاهدة الفيديو عن {thema}."],
        "title": ["لماذا تأخر {sache} إلى ما بعد {jahr}", "ماذا بعد في {ort}"], "heading": ["الخلفية", "التكلفة والمواعيد", "الوضع في {ort}", "أسئلة مفتوحة"],
    },
    "nav": ["الرئيسية", "سياسة", "اقتصاد", "ثقافة", "رياضة", "علوم", "فيديو", "آراء", "أرشيف", "اتصل بنا", "الطقس"],
    "labels": {"share": ["مشاركة", "حفظ", "طباعة"], "comments": "التعليقات", "related": "مواضيع ذات صلة", "reply": "رد", "popular": "الأكثر قراءة", "subscribe": "اشترك", "accept": "قبول الكل", "reject": "رفض", "search": "بحث",
               "legal": ["الشروط", "الخصوصية", "من نحن"], "by": "بقلم", "read": "دقائق قراءة", "references": "المراجع", "ingredients": "المكونات", "author": "عن الكاتب"},
}

LANGUAGES = {"de": GERMAN, "ru": RUSSIAN, "zh": CHINESE, "ja": JAPANESE, "ar": ARABIC}
